"""STORIUM again: its overview of a corpus of games, and its experiment of packing and history."""
