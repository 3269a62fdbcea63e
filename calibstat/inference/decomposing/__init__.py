"""Scores in parts that add up, of one event and of several classes jointly."""
