"""Comments on an aspect of a story, each with the span of the story that it rests on.

`evidence` finds the span by plain rules, `composer` makes a comment of it from templates, `writer`
asks a language model for one and checks what it says.
"""
