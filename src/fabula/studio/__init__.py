"""Floor 4: the platform: people, games, drafts, suggestions, edits, ratings, jobs. No HTTP.

A verb is a function, is one transaction, and takes the studio and the person who acts:
`publish_entry(studio, person, draft, ...)`. What it gives back are plain values.
"""
