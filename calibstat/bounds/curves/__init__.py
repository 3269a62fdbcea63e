"""Bounds of the calibration error itself, over all calibration curves of a stated shape."""
