"""The operations: a table of rows, and fast forms beside the hot ones."""
