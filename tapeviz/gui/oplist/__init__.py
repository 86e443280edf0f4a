"""The table of executed operations."""
