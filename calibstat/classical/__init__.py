"""Classical tests of calibration, exact or with known limits."""
