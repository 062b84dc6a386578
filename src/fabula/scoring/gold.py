"""Gold from elsewhere for scores: what people said in a data set of the same stories, or a table.

A story of a run is one of a data set where id and text agree; else where the text is that of one
story alone. Ids alone prove nothing: many data sets count their stories from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.datasets.table import CARD, read_opinions
from fabula.datasets.tables.choices import open_choices
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.text_file import FileForm

Say = Callable[[str], None]


def join_dataset(run: Dataset, gold: Dataset, say: Say | None = None) -> Dataset:
    """Give the scores of a run with what people said of the same stories in a data set.

    Items, systems and card are the data set's; scores that came with it are left out. What is not
    in both is left out, and `say` is told how much.
    """
    partners = match_stories(run.stories, gold.stories)
    if not partners:
        count = count_text(len(run.stories), "story", "stories")
        raise InputError(
            f"{run.name}: none of its {count} is in {gold.name}",
            f"score that data set first: fabula score {gold.name} -o RUN",
        )
    there = {*partners.values()}
    stories = tuple(story for story in gold.stories if story.id in there)
    scores = [
        replace(score, story=partners[score.story])
        for score in run.scores
        if score.story in partners
    ]
    joined = replace(
        gold,
        name=f"{run.name} beside {gold.name}",
        stories=stories,
        ratings=ScoreTable(stories, (one for one in gold.ratings if one.story in there)),
        scores=ScoreTable(stories, scores),
        scorers=run.scorers,
        preferences=tuple(one for one in gold.preferences if {one.better, one.worse} <= there),
        annotations=tuple(one for one in gold.annotations if one.story in there),
    )
    if say and (missing := _list_missing(joined, run, gold)):
        say(f"{joined.name}: {'; '.join(missing)}")
    return joined


def _list_missing(joined: Dataset, run: Dataset, gold: Dataset) -> list[str]:
    """Say how much of a data set and of a run is not in the other."""
    words = [
        f"{len(ours):,} of {len(whole):,} {what}"
        for what, ours, whole in (
            ("stories", joined.stories, gold.stories),
            ("ratings", joined.ratings, gold.ratings),
            ("pairs", joined.preferences, gold.preferences),
        )
        if len(ours) < len(whole)
    ]
    if more := len(run.stories) - len(joined.stories):
        words.append(f"{count_text(more, 'story', 'stories')} of the run left out")
    return words


def match_stories(ours: Iterable[Story], theirs: Iterable[Story]) -> dict[str, str]:
    """Give the id that each of our stories has among theirs; each of theirs is taken once."""
    theirs = list(theirs)
    by_id = {story.id: story for story in theirs}
    by_text: dict[str, list[Story]] = {}
    for story in theirs:
        by_text.setdefault(_plain(story.text), []).append(story)
    partners: dict[str, str] = {}
    taken: set[str] = set()
    left: list[Story] = []
    for story in ours:
        same = by_id.get(story.id)
        # Tables of scores and some releases hold no texts: there the id has to do.
        texts = {_plain(one.text) for one in (story, same) if one and one.text.strip()}
        if same and len(texts) < 2:
            partners[story.id] = same.id
            taken.add(same.id)
        else:
            left.append(story)
    for story in left:
        found = by_text.get(_plain(story.text), []) if story.text.strip() else []
        same_prompt = [
            one for one in found if _plain(one.prompt or "") == _plain(story.prompt or "")
        ]
        candidates = [one for one in same_prompt or found if one.id not in taken]
        if len(candidates) == 1:
            partners[story.id] = candidates[0].id
            taken.add(candidates[0].id)
    return partners


def join_choices(
    run: Dataset, path: Path, columns: Mapping[str, str], form: FileForm
) -> Dataset | None:
    """Give the scores of a run with a table of choices between its stories; None for other tables.

    What people said in the run itself is left out.
    """
    # What is odd about the file is said by whoever reads it in the end.
    if open_choices(path, columns, replace(form, say=None)) is None:
        return None
    choices = open_choices(path, columns, form)
    ids = {story.id for story in run.stories}
    texts: dict[str, str] = {}
    for story in run.stories:
        texts.setdefault(_plain(story.text), story.id)

    def find(name: str) -> str | None:
        return name if name in ids else texts.get(_plain(name))

    chosen = choices.read(find) if choices else ()
    return replace(run, ratings=ScoreTable(run.stories), preferences=chosen)


def read_scores(path: Path, columns: Mapping[str, str], form: FileForm) -> Dataset:
    """Read a table of scores whose gold lies elsewhere."""
    sheet = Sheet.read(path, columns, form)
    opinions = read_opinions(sheet)
    if not opinions.scores:
        known = ", ".join(sheet.names)
        raise InputError(
            f"{sheet.label}: no scores of metrics in its columns ({known})", "add some"
        )
    scores = ScoreTable(opinions.stories, opinions.scores)
    cards = {name: ScorerCard("other", "higher") for name in scores.scorers}
    name = sheet.label.partition(".")[0]
    return Dataset(name, CARD, opinions.stories, scores=scores, scorers=cards)


def _plain(text: str) -> str:
    return " ".join(text.split())
