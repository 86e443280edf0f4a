"""The window: draws and lets people choose; computes nothing."""
