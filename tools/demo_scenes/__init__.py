"""Path-traced demo scenes: every metre known by construction. Run `python -m tools.demo_scenes.make`."""
