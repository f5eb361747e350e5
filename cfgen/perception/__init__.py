"""What a frame shows: clear road, own hood, light and sun."""
