"""Choosing stories of a run by their scores: conditions, duplicates, samples, what is written."""
