"""Texts drawn token by token from causal models: rules, prefixes, the loop, and its co-author."""
