"""Quality gates, one per function."""
