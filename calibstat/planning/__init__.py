"""Power of tests and numbers of rows, before outcomes are observed."""
