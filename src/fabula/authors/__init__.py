"""Floor 3: machine co-authors, one a file; what they share lies in packages beside them.

A co-author is named by its spec, as a metric is: `embedded`, `api('…', base_url='…')`. Other
packages add theirs through the entry point group `fabula.authors`.
"""

from __future__ import annotations

from fabula.core.author import Author
from fabula.core.catalogue import LoaderCatalogue

__all__ = ["AUTHORS", "author_spec", "load_author"]

AUTHORS: LoaderCatalogue[Author] = LoaderCatalogue("co-author", ("fabula.authors",))


def load_author(spec: str) -> Author:
    """Make the co-author that a spec spells; `startup` loads what it needs."""
    return AUTHORS.load(spec)


def author_spec(spec: str) -> str:
    """Canonical spelling of a co-author; nothing is loaded."""
    return AUTHORS.spell(spec)
