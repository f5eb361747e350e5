"""A judge that measures: no network, no model, no hazard label."""
