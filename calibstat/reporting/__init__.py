"""Reports of models to send: everything the other functions find in the same rows, on one page."""
