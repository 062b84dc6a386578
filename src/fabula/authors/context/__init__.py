"""What a co-author is shown, how it fits, and how much of what it writes is wanted."""
