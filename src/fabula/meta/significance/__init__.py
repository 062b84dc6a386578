"""Whether a difference is more than chance: of two systems, or of two metrics' agreement."""
