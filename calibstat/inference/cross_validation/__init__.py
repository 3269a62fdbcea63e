"""Tests, intervals and comparisons of models by predictions out of the folds of cross-validation."""
