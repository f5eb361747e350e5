"""One inpainter per file, and the crop and paste they share."""
