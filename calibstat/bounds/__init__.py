"""Bounds of sums: how they vary, how far they may lie from their mean, and the intervals that follow."""
