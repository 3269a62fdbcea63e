"""Rows of which few have an outcome, and all have a judge's answer."""
