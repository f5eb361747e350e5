"""What can appear in the road, and where (metres)."""
