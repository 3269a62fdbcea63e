"""Reliability diagrams and their bands."""
