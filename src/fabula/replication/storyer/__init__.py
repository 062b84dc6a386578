"""StoryER's paper again: StoR3's analyses on public data, run by `fabula study run`.

Every analysis stands alone: what it lacks (data, weights, a package) it says, and the others run.
"""
