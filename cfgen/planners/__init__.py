"""Planners: protocol, parser, built-ins and adapters."""
