"""Exact answers from the definitions, in fractions where the answer is one: nothing here imports calibstat or NumPy."""
