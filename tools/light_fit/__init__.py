"""Fits and measures how cfgen reads the light off frames. Run `python -m tools.light_fit.fit`."""
