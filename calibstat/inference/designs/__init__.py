"""Designs of rows: what may be asked of them, by which method, and what is said of it."""
