"""Comments on an aspect of a story, each with the span of the story that it rests on."""
