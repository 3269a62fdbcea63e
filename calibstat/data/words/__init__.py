"""Words of other packages and of the command line, and what they are called here."""
