"""Comparisons of models and of samples."""
