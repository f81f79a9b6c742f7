"""Repairs of findings, judged by gates before anybody sees them."""
