"""The parts of the report, one file each."""
