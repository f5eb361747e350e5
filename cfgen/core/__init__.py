"""What every room stands on: errors, hashing, files, progress, and how work is run and contained."""
