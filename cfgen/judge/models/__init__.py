"""Models that answer a rubric's prompt: one small file each, transport only."""
