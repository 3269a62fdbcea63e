"""Days in a row: blocks of neighbouring days as clusters, and how alike neighbouring clusters are."""
