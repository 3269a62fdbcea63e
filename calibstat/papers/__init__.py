"""Studies that make the tables of papers from predictions of a user's own models."""
