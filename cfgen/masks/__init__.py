"""What is what in a picture: segments at a prompt, and things found by their name. Needs a model."""
