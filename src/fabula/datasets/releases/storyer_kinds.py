"""Which of StoryER's data sets a file has the form of: pairs, or rated and commented stories."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from fabula.datasets.releases.pickles import is_pickle, read_plain_pickle
from fabula.datasets.tables.rows import is_table, read_rows
from fabula.datasets.tables.text_file import TextFile

# What the two sides of a pair are called: in the release, and in tables of people's own.
SIDES = (("good", "poor"), ("better", "worse"))
# A table of better and worse without a prompt names stories of a run by their ids.
_PAIR, _OWN_PAIR, _SUBMISSION = {*SIDES[0]}, {"prompt", *SIDES[1]}, {"comments", "story"}


def tell_kind(path: Path) -> str:
    """Name the data set whose form a file has; "" for any other file."""
    if is_pickle(path):
        rows = read_plain_pickle(path)
        first = rows[0] if isinstance(rows, list) and rows else ()
        return "storyer" if len(first) > 2 else "storyer_ratings"
    if not is_table(path):
        return ""
    for _, row in islice(read_rows(TextFile(path, path.name)), 1):
        if row.keys() >= _PAIR or row.keys() >= _OWN_PAIR:
            return "storyer"
        if row.keys() >= _SUBMISSION:
            return "storyer_ratings"
    return ""
