"""Camera models, ego frame, ground plane, trajectories: the base that every room may use."""
