"""Kinds of measures, what each kind brings, and the registry."""
