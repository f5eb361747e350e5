"""Generative inpainting on this machine through diffusers: one file per model, what they share in the others."""
