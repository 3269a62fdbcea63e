"""Files that commands read: text, JSON, Arrow tables and NumPy arrays."""
