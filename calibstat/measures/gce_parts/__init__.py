"""Parts of the general calibration error: ties that bins share, and weights."""
