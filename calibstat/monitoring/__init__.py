"""Monitoring over time: evidence against calibration that may be looked at after every period."""
