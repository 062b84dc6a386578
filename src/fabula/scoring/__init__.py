"""Floor 4: runs metrics over stories: batching, cache, resume, progress."""
