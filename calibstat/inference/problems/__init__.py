"""The problems: data and a measure, posed once."""
