"""Releases of data sets: their files found and read, checked against the card, written as rows."""
