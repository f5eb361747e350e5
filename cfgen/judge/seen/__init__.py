"""Is it possible to see that? What words claim about the world, held against the geometry that is known."""
