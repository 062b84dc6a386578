"""How models read texts of any length, whichever they are.

Texts are cut into tokens (`tokens`), tokens into windows that run in batches of about one length
(`windows`), and what came out is kept for whoever asks next (`state_cache`).
"""
