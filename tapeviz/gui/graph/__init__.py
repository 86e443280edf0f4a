"""The graph of one iteration: forward and backward pass on one drawing."""
