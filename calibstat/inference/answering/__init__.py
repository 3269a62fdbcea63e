"""Abstention: how often a model is wrong that answers only where it is confident."""
