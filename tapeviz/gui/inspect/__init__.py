"""The tensor inspector: heat map, table and statistics of the tensor in focus."""
