"""Parts that the studies of papers share, also with those of a checkout."""
