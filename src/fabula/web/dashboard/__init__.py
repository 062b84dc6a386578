"""What the dashboard shows: parts with a chart and a table each, edits, and when to look again."""
