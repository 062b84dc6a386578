"""What a machine writes from: the segments of a game or a prompt, and how they fit a window."""
