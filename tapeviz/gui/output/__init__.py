"""What the script prints and reads."""
