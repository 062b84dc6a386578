"""A metric for Fabula from a package of its own."""
