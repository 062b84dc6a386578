"""Asking models on servers: connections and tries, streams of events, and the wire formats."""
