"""Games of collaborative storytelling in STORIUM's export format: what one holds, and counts."""
