"""Summaries made by the engine that holds the data: a frame, a database, a cluster."""
