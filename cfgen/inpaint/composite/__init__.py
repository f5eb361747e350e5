"""The embedded compositor: path-traced sprites, lit and set into the frame."""
