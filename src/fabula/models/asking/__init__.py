"""Asking language models many questions: limits, tries, what was answered before, what it costs."""
