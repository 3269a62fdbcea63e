"""Draws of tables of residuals: units with replacement, and labels given the predictions."""
