"""Tasks made into examples: data sets in, numbers to learn from out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.union import corrupt
from fabula.learned.reader.domain import describe_domain
from fabula.learned.reader.inference import load_reader
from fabula.learned.reader.relation import open_relater, relate
from fabula.learned.training.examples import ExampleSet, Prepared, example_set
from fabula.learned.training.pairs import pairs_of
from fabula.learned.training.recipe import ReaderRecipe, Task
from fabula.learned.training.stories import (
    Cut,
    UnratedStories,
    human_references,
    read_dataset,
    set_aside,
    task_stories,
)
from fabula.text.detokenise import detokenise, split_any_case
from fabula.text.features import feature_row
from fabula.text.layout import Layout, lay_out
from fabula.text.perturb import PERTURBATIONS

_LONGEST_SENTENCE = 120  # tokens of a sentence that order is told by
# Every other story is shuffled, which is the hardest to notice.
_WAYS = ("shuffle",) * 4 + ("swap_paragraphs", "loop", "salad", "graft")


def prepare(recipe: ReaderRecipe, cut: Cut, data: Path | None = None) -> Prepared:
    """Make the examples of all tasks; `cut` gives texts as word pieces."""
    if recipe.related_tasks:
        open_relater()  # what it lacks is said before all else is made

    @cache
    def written(name: str) -> Dataset:
        return read_dataset(name, data)

    @cache
    def dataset(name: str) -> Dataset:
        return _lay_out(written(name), recipe.layout)

    # Line breaks tell which stories are set aside: they are looked for before all is laid out.
    aside = [set_aside(written(name)) for name in recipe.corpora]
    free = UnratedStories([*map(dataset, recipe.left_out), *aside])
    examples: dict[str, ExampleSet] = {}
    for name, task in recipe.tasks.items():
        sources = [dataset(source) for source in task.data]
        examples[name] = _build(task, sources, free=free, cut=cut, seed=recipe.seed)
        if name in recipe.related_tasks:
            examples[name] = _relate(examples[name], task, sources)
        if name in recipe.beside_tasks:
            examples[name] = _ask_beside(recipe, examples[name], task, sources)
        if not len(examples[name]):
            raise InputError(f"task {name} has no example", "check its data and aspects")
    _share_items(recipe, examples)
    return Prepared(
        examples, describe_domain(_read_by_people(recipe, dataset)) if recipe.scales else {}
    )


def _share_items(recipe: ReaderRecipe, examples: dict[str, ExampleSet]) -> None:
    """Let stories that a judge rated bear the items of the same texts where people rated them.

    Folds part items: what is measured against people must not have been learned from the judge.
    """
    judged = {name for name, task in recipe.tasks.items() if task.scorer}
    people: dict[tuple[int, ...], str] = {}
    for name in recipe.opinion_tasks if judged else ():
        for item, row in zip(examples[name].items, examples[name].members.tolist(), strict=True):
            if name not in judged:
                people |= {tuple(examples[name].text(number)): item for number in row}
    for name in judged:
        own, texts = examples[name].items, examples[name].members[:, 0].tolist()
        pieces = [tuple(examples[name].text(number)) for number in texts]
        shared = {item: people[key] for item, key in zip(own, pieces, strict=True) if key in people}
        items = tuple(shared.get(item, item) for item in own)
        examples[name] = replace(examples[name], items=items)


def _lay_out(dataset: Dataset, layout: Layout) -> Dataset:
    """Give a data set whose stories are laid out as they will be read."""
    stories = (replace(story, text=lay_out(story.text, layout)) for story in dataset.stories)
    return replace(dataset, stories=tuple(stories))


def _read_by_people(recipe: ReaderRecipe, dataset: Callable[[str], Dataset]) -> list[str]:
    """Give the stories that people rated or preferred, as a reader reads them."""
    asked = [recipe.tasks[task] for task in recipe.opinion_tasks]
    names = recipe.domain or [name for task in asked for name in task.data]
    stories = (story for name in dict.fromkeys(names) for story in dataset(name).stories)
    return [text for text in dict.fromkeys(detokenise(story.text) for story in stories) if text]


def _build(
    task: Task, sources: Sequence[Dataset], *, free: UnratedStories, cut: Cut, seed: int
) -> ExampleSet:
    if task.kind == "pairs":
        return _make_pairs(task, sources, cut=cut, seed=seed)
    if task.kind in ("ratings", "shares", "labels"):
        return _make_opinions(task, sources, free=free, cut=cut)
    if task.kind == "order":
        return _make_neighbours(order_stories(task, sources, free), cut)
    sources = [_choose_systems(source, task) for source in sources]
    chosen = _all_stories(sources, task) if task.rated else free.stories(sources)
    stretches = _cut_stretches(task, chosen, seed)
    if task.kind == "spoiled":
        return _make_spoiled(stretches, cut=cut, seed=seed)
    stories = [sentences for _, sentences in stretches]
    if task.kind == "taught":
        return _make_taught(task, stories, cut=cut, seed=seed)
    if task.kind == "filled":
        return _make_runs(stories, cut)
    return _make_corrupted(stories, cut=cut, seed=seed)


def _choose_systems(dataset: Dataset, task: Task) -> Dataset:
    """Give a corpus without the stories of others than the systems that a task names."""
    if not task.systems:
        return dataset
    chosen = tuple(story for story in dataset.stories if story.system in task.systems)
    return replace(dataset, stories=chosen)


def _all_stories(sources: Sequence[Dataset], task: Task) -> list[Story]:
    """Give the stories of data sets, rated ones too, named as those of corpora are."""
    return [
        replace(story, id=f"{source.name}:{story.id}", item=str(story.item).partition(":")[2])
        for source in sources
        for story in task_stories(source, task)
    ]


def order_stories(task: Task, sources: Sequence[Dataset], free: UnratedStories) -> list[list[str]]:
    """Give the sentences of human stories: a corpus's own, or the references beside systems'."""
    corpora = [
        source for source in sources if not any(story.references for story in source.stories)
    ]
    stories = free.stories(corpora) if corpora else []
    for source in sources:
        if source not in corpora:
            stories += human_references(source, task.split)
    return [split_any_case(story.text) for story in stories][: task.most or None]


def _make_pairs(task: Task, sources: Sequence[Dataset], *, cut: Cut, seed: int) -> ExampleSet:
    pairs = [pair for source in sources for pair in pairs_of(source)][: task.most or None]
    texts: dict[str, str] = {}
    members, items = [], []
    corpus = (
        Corpus.of([split_any_case(detokenise(pair.worse.text)) for pair in pairs])
        if task.negatives
        else None
    )
    for number, pair in enumerate(pairs):
        texts.setdefault(pair.better.id, detokenise(pair.better.text))
        texts.setdefault(pair.worse.id, detokenise(pair.worse.text))
        sides = pair.better.id, pair.worse.id
        if corpus is not None:
            negative = corrupt(
                split_any_case(texts[sides[1]]), others=corpus, seed=_seed_of(seed, number)
            )
            sides = sides[1], f"{sides[1]}/negative{number}"
            texts[sides[1]] = " ".join(negative.sentences)
        members.append(sides)
        items.append(f"{sources[0].name}:{pair.item}")
    place = {name: number for number, name in enumerate(texts)}
    return example_set(
        cut(list(texts.values())),
        [[place[name] for name in sides] for sides in members],
        [[1.0]] * len(members),
        items=items,
        ids=list(texts),
        features=[feature_row(text) for text in texts.values()],
    )


def _make_opinions(
    task: Task, sources: Sequence[Dataset], *, free: UnratedStories, cut: Cut
) -> ExampleSet:
    texts, targets, items, ids = [], [], [], []
    for source in sources:
        said: dict[tuple[str, str], list[float]] = {}
        table = source.scores if task.kind == "labels" or task.scorer else source.ratings
        for score in table:
            if not math.isnan(score.value) and task.scorer in ("", score.scorer):
                said.setdefault((score.story, score.aspect), []).append(score.value)
        for story in task_stories(source, task):
            row = [said.get((story.id, aspect), []) for aspect in task.aspects]
            if any(row) and (task.kind != "labels" or free.allows(story.text)):
                texts.append(story.text)
                targets.append(_target(row, is_share=task.kind == "shares"))
                items.append(str(story.item))
                ids.append(f"{source.name}:{story.id}")
    return example_set(
        cut(texts),
        [[i] for i in range(len(texts))],
        targets,
        items=items,
        ids=ids,
        features=[] if task.kind == "labels" else [feature_row(text) for text in texts],
    )


def _relate(examples: ExampleSet, task: Task, sources: Sequence[Dataset]) -> ExampleSet:
    """Add what rated stories have to do with their prompts."""
    chosen = _find_stories(examples, task, sources)
    rows = relate([story.prompt for story in chosen], [story.text for story in chosen])
    return replace(examples, relations=rows.astype(np.float32))


def _ask_beside(
    recipe: ReaderRecipe, examples: ExampleSet, task: Task, sources: Sequence[Dataset]
) -> ExampleSet:
    """Add what the heads of the reader beside say of rated stories."""
    texts = [story.text for story in _find_stories(examples, task, sources)]
    said = load_reader(recipe.beside).outputs(texts)
    rows = [[float(one[head][0]) for head in recipe.borrowed] for one in said]
    return replace(examples, beside=np.array(rows, dtype=np.float32))


def _find_stories(examples: ExampleSet, task: Task, sources: Sequence[Dataset]) -> list[Story]:
    """Give the stories that rated examples are made of."""
    stories = {
        f"{source.name}:{story.id}": story
        for source in sources
        for story in task_stories(source, task)
    }
    return [stories[name] for name in examples.ids]


def _target(row: Sequence[Sequence[float]], *, is_share: bool) -> list[float]:
    if is_share:
        total = sum(map(len, row))
        return [len(values) / total for values in row]
    return [float(np.mean(values)) if values else math.nan for values in row]


def _make_neighbours(stories: Sequence[Sequence[str]], cut: Cut) -> ExampleSet:
    flat = [sentence for story in stories for sentence in story]
    members, items, at = [], [], 0
    for number, story in enumerate(stories):
        for place, (sentence, following) in enumerate(pairwise(story), at):
            if sentence.strip().lower() != following.strip().lower():
                members.append([place, place + 1])
                items.append(f"story:{number}")
        at += len(story)
    pieces = [sentence[:_LONGEST_SENTENCE] for sentence in cut(flat)]
    return example_set(pieces, members, [[1.0]] * len(members), items=items, ids=[])


def _cut_stretches(
    task: Task, stories: Sequence[Story], seed: int
) -> list[tuple[Story, list[str]]]:
    """Part stories into sentences, longer ones cut to a stretch of a length within bounds."""
    low, high = task.sentences
    stretches = []
    for number, story in enumerate(stories[: task.most or None]):
        parts = split_any_case(story.text)
        if high:
            rng = random.Random(_seed_of(seed, number))
            count = min(rng.randint(low, high), len(parts))
            start = rng.randint(0, len(parts) - count)
            parts = parts[start : start + count]
        if len(parts) >= max(3, low):
            stretches.append((story, parts))
    return stretches


def _make_corrupted(stories: Sequence[Sequence[str]], *, cut: Cut, seed: int) -> ExampleSet:
    corpus = Corpus.of(stories)
    negatives = [
        corrupt(story, others=corpus, seed=_seed_of(seed, number))
        for number, story in enumerate(stories)
    ]
    changed = [number for number, negative in enumerate(negatives) if negative.changed]
    texts = [" ".join(stories[number]) for number in changed]
    texts += [" ".join(negatives[number].sentences) for number in changed]
    labels = [[1.0]] * len(changed) + [[0.0]] * len(changed)
    items = [f"story:{number}" for number in changed] * 2
    return example_set(cut(texts), [[i] for i in range(len(texts))], labels, items=items, ids=[])


def _make_spoiled(
    stretches: Sequence[tuple[Story, Sequence[str]]], *, cut: Cut, seed: int
) -> ExampleSet:
    """Pair stories with themselves spoiled; they bear the items that people's ratings bear."""
    texts = [" ".join(map(_capitalise, sentences)) for _, sentences in stretches]
    pairs, items = list[tuple[str, str]](), []
    for number, ((story, _), text) in enumerate(zip(stretches, texts, strict=True)):
        other = texts[(number + 1) % len(texts)]
        if (spoiled := spoil_story(text, other, _seed_of(seed, number))) is not None:
            source, _, own = story.id.partition(":")
            pairs.append((text, spoiled))
            items.append(f"{source}:{story.item or own}")
    sides = [text for pair in pairs for text in pair]
    members = [[place, place + 1] for place in range(0, len(sides), 2)]
    return example_set(cut(sides), members, [[1.0]] * len(pairs), items=items, ids=[])


def _make_taught(
    task: Task, stories: Sequence[Sequence[str]], *, cut: Cut, seed: int
) -> ExampleSet:
    """Give stories, the same corrupted and the same spoiled; the teacher is asked in training."""
    corpus = Corpus.of(stories)
    texts = [" ".join(map(_capitalise, sentences)) for sentences in stories]
    for number, sentences in enumerate(stories):
        negative = corrupt(sentences, others=corpus, seed=_seed_of(seed, number))
        texts.append(" ".join(negative.sentences))
    for number, text in enumerate(texts[: len(stories)]):
        other = texts[(number + 1) % len(stories)]
        texts.append(spoil_story(text, other, _seed_of(seed, number)) or text)
    items = [f"story:{number}" for number in range(len(stories))] * 3
    unknown = [[math.nan] * len(task.aspects)] * len(texts)
    return example_set(cut(texts), [[i] for i in range(len(texts))], unknown, items=items, ids=[])


def spoil_story(text: str, other: str, seed: str) -> str | None:
    """Spoil a text in a way drawn by lot; where it cannot be spoiled so, in the next."""
    rng = random.Random(seed)
    for way in dict.fromkeys([rng.choice(_WAYS), *_WAYS]):
        spoiled = PERTURBATIONS[way](text, seed=rng.getrandbits(32), other=other)
        if spoiled is not None:
            return spoiled
    return None


def _capitalise(sentence: str) -> str:
    """Begin a sentence large, so that it is found again in a text of small letters."""
    return sentence[:1].upper() + sentence[1:]


def _make_runs(stories: Sequence[Sequence[str]], cut: Cut) -> ExampleSet:
    ends = np.cumsum([0, *map(len, stories)]).tolist()
    flat = [sentence for story in stories for sentence in story]
    items = [f"story:{number}" for number in range(len(stories))]
    runs = [list(ends_of_story) for ends_of_story in pairwise(ends)]
    return example_set(cut(flat), runs, [[1.0]] * len(runs), items=items, ids=[])


def _seed_of(seed: int, number: int) -> str:
    return f"{seed} {number}"
