"""tapeviz: see, step through and debug gradients on a live tape."""

__version__ = "0.1.0"
