"""Hazards rendered straight into the scene by Blender as a module."""
