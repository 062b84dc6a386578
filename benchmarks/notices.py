"""Which changes of a story learned metrics notice, on human stories of a folder DATA.

    python benchmarks/notices.py DATA                 # prints the tables
    python benchmarks/notices.py DATA --write         # and keeps them for the metrics' pages

`fabula metrics docs` and `fabula metrics show` print what was kept. Stories are those of
WritingPrompts of 150 to 300 words, evenly drawn; each is read some twenty times by four readers,
which takes about ten seconds a story on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.learned.reader.domain import describe_other_writing
from fabula.learned.training.stories import data_folder
from fabula.reports.notices import make_notices, notice_section, write_notices
from fabula.scoring.stress import stress

METRICS = ("storyer", "writers", "criteria", "coherence", "union", "manplts", "rovist_c")
# Such stories no reader of ours has learned from: they are set aside in training.
WORDS, LINE_BREAKS = (150, 300), 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--stories", type=int, default=40)
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    drawn = draw_stories(options.data, options.stories)
    result = stress(drawn, options.metrics, seed=0, cache=True)
    low, high = WORDS
    notices = make_notices(
        result, f"{len(drawn)} stories of WritingPrompts ({low} to {high} words)"
    )
    for spec in notices.metrics:
        print(f"## {spec}\n\n{notice_section(spec, notices)}\n")
    if options.write:
        write_notices(notices)


def draw_stories(data: Path, count: int) -> list[Story]:
    """Draw so many stories with a prompt, evenly over the corpus."""
    corpus = load_dataset("writingprompts", data_folder("writingprompts", data), partial=True)
    low, high = WORDS
    fitting = [
        story
        for story in corpus.stories
        if story.prompt and low <= len(story.text.split()) <= high
        if story.text.count("\n") >= LINE_BREAKS
    ]
    fitting = [story for story in fitting if not describe_other_writing(story.text)]
    return fitting[:: max(1, len(fitting) // count)][:count]


if __name__ == "__main__":
    main()
