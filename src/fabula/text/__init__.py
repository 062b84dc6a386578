"""Floor 2: pure functions on strings. A lexicon is an argument, never an import."""
