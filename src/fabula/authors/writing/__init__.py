"""Many stories at once: every co-author on the same prompts, as `fabula write` has them written."""
