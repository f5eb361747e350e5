"""Judges: a rubric put to a model, or to measurement."""
