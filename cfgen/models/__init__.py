"""Models behind an API or in transformers: transport, limits and quoting, for judges and planners alike."""
