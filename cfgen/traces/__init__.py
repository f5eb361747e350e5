"""Traces whose right verdict is known, edge by edge: made, filtered, put to judges, exported for training."""
