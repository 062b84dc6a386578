"""Where in pictures the words of a text are found, and what a score makes of it."""
