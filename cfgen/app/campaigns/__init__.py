"""Rating campaigns: who rates what, what came of it, and ways in and out."""
