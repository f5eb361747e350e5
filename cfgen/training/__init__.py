"""What trains on cfgen's verdicts: rewards with a critic plugged in, and the models that they need."""
