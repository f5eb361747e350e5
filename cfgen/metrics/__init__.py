"""Numbers from verdicts and trajectories."""
