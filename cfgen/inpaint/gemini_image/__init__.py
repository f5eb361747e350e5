"""Inpainting by an image service that takes words and pictures and sends a whole picture back."""
