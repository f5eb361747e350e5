"""Road pictures of other people, fetched for judging by eye. Run `python -m tools.foreign_frames.fetch OUT`."""
