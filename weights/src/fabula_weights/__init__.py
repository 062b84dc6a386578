"""Weights that the Fabula project trained itself: files to be read, no code."""
