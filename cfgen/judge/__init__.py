"""Rubrics x models."""
