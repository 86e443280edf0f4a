"""Gradient norms, update ratios and the loss over the iterations."""
