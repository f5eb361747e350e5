"""cfgen: counterfactual hazards for driving planners that explain themselves."""

__version__ = "0.1.0"
