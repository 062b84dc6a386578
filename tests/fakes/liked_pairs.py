"""Made-up pairs of stories of which readers liked one better, in a folder of data sets."""

from __future__ import annotations

from pathlib import Path

from fabula.datasets.storyer import write_pairs


def write_liked_pairs(root: Path) -> Path:
    """Write twenty prompts with a liked and a disliked story; one story is both."""
    (root / "storyer").mkdir()
    rows = [(f"Prompt {n}.", _tell(n, True), _tell(n, False)) for n in range(20)]
    rows.append(("Prompt 0.", _tell(0, False), "Nothing of note happened on that long grey day."))
    # Several files are no release whose stories are counted.
    write_pairs(rows[:10], root / "storyer" / "train_rank_small.jsonl")
    write_pairs(rows[10:], root / "storyer" / "rank_more.jsonl")
    return root


def _tell(number: int, liked: bool) -> str:
    """Tell a story that no other resembles; its last word is its prompt's number."""
    own = " ".join(f"{sign}{number}" for sign in ("abcdefgh" if liked else "rstuvwxyz"))
    return f"Somebody crossed {own}. So {number}" if liked else f"There was {own}. So {number}"
