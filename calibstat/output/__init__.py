"""Files written whole or not at all, and CSV text that a spreadsheet takes for data only."""
