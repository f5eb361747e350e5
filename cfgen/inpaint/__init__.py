"""One folder a kind of inpainter, and the crop and paste that they share."""
