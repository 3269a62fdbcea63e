"""Pictures of the tables of studies."""
