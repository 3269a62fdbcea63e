"""Input data: validation, binary samples, multiclass predictions, and lenses."""
