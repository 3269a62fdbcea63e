"""Estimates, tests, intervals and reliability diagrams."""
