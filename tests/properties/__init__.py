"""Properties that hold for whatever a build may meet; ``CFGEN_EXAMPLES=100`` draws a hundred times as many, anew."""
