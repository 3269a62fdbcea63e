"""Rows in many files, and more rows than fit into memory."""
