"""What the studies of papers share."""
