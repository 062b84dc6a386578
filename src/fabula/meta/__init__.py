"""Floor 2: is a difference, or a scorer, to be believed? Reads tables, runs nothing."""
