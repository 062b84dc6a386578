"""Floor 5: tables and pages of what was scored: a run in, something to look at out."""
