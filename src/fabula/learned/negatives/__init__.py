"""Negatives: made-up bad versions of good stories, from which judges of coherence are trained."""
