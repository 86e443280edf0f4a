"""What is wrong and why: the findings as cards."""
