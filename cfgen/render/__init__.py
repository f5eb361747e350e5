"""Pictures for the judge and for people."""
