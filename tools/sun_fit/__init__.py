"""Fits the weights by which cfgen tells whether the sun shines, and where. Run `python -m tools.sun_fit.fit`."""
