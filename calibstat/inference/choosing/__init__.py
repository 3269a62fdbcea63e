"""The choice of a model: conditions, the best that is shown to keep them, and scores for searches."""
