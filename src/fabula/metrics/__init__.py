"""Floor 3: one metric per file; the file's name is the metric's name."""
