"""Metrics made for tests: one file each, as in the catalogue, so that workers can import them."""
