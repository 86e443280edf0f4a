"""The navigator: the variables of the network in order, with the health of their gradients."""
