"""Campaigns: people are asked about stories, and it is known whether they agree.

`definition` is the campaign file, `presets` ready ones; a verb is a function and one transaction,
as everywhere in the studio.
"""
