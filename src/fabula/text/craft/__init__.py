"""Craft checks: habits of prose that writers look for, each with the places where it shows.

`prose.py` takes a text apart once for all checks; a check is a function that gives a `Finding`.
`reference.py` knows how often human stories do as much, `facts.py` puts both into words.
"""
