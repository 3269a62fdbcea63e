"""Rows that were predicted out of the folds of cross-validation."""
