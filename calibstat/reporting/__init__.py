"""Reports of models to send: everything the verbs say of the same rows, on one page."""
