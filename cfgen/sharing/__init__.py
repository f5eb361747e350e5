"""A benchmark out into the world: as a data set, as a recipe of what is ours alone, and by a frozen name."""
