"""One reader per source of driving scenes."""
