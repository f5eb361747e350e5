"""Bundles of many planners, checked and set beside their like."""
