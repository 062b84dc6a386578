"""Floor 1: what a story, a score and a metric are (standard library and numpy only)."""
