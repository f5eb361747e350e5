"""What a report is made of: the data of a benchmark, its numbers, tables, plots and the page."""
