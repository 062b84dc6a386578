"""How scores are distributed: human stories, machines', corrupted ones, other genres."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import SettingError, UserError
from fabula.core.story import Story
from fabula.learned.negatives import union
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.manplts import Rewriter
from fabula.learned.training.stories import UnratedStories, is_kept_back, vist_part
from fabula.replication.findings import Findings, StudyRow, StudyTable
from fabula.replication.storyer.evaluated_sets import open_sets, part_stories
from fabula.replication.storyer.material import Material
from fabula.replication.unseen import UnseenValues
from fabula.scoring.catalogue import METRICS
from fabula.text.antonyms import Antonyms, read_wordnet
from fabula.text.detokenise import detokenise, split_any_case

Array = np.ndarray[Any, np.dtype[Any]]
Corruption = Callable[[list[str], random.Random], list[str] | None]
CORRUPTIONS = (
    "UNION repeat", "UNION replace", "UNION shuffle", "UNION negate", "MANPLTS repetition",
    "MANPLTS substitution", "MANPLTS contradiction", "MANPLTS order",
)  # fmt: skip
_RATED_SETS = ("storyer", "storyer_ratings", "hanna", "mans")
_CORPUS = 300  # stories that corruptions take sentences and words from
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_COLUMNS = ("domain", "mean", *(f"{round(100 * q)} %" for q in _QUANTILES), "above .5", "below its "
            "original", "stories", "read by")  # fmt: skip
_NOTE = (
    "Table 8 of the paper prints .02 to .03 of (N) for stories made bad, .88 for those liked most. "
    "“Below its original”: share of corrupted stories that score lower than what they were made "
    "of. Read by the asset, which knows it: its layers have learned from ratings of these stories."
)
# Data sets whose stories unseeing readers have valued: domain, task, whether by machines.
_RATED = (
    ("HANNA, human", "criteria", False),
    ("HANNA, machines", "criteria", True),
    ("MANS roc, machines", "mans_roc", True),
    ("MANS wp, machines", "mans_wp", True),
)
_HUMAN = "human, unseen"
_FOLDS, _ASSET, _KNOWN = "folds that had not seen it", "the asset", "the asset, which knows it"


@dataclass(frozen=True)
class DistributionSettings:
    """How many stories are drawn, and whose weights read them.

    `sets` are more of them: names of data sets, or files of one's own, with the values of the
    column `by` (a genre, say) as domains of their own.
    """

    stories: int = 40  # human stories that are corrupted in every way
    others: int = 60  # of every other domain that has to be read
    reader: str = "reader"
    coherence: str = "coherence"
    sets: tuple[str, ...] = ()
    by: str = ""

    def __post_init__(self) -> None:
        if min(self.stories, self.others) < 2:
            raise SettingError("stories and others must be 2 or more", "mend the study file")


@dataclass(frozen=True)
class Domain:
    """Values of stories of one kind; `originals` are those of what was corrupted, in order."""

    name: str
    values: Array
    items: Sequence[str]
    by: str
    originals: Array = field(default_factory=lambda: np.zeros(0))


def analyse_domains(material: Material, settings: DistributionSettings) -> Findings:
    """Score every domain by preference, preference with negatives, and coherence."""
    read, lacking = _draw_domains(material, settings)
    count = sum(map(len, read.values()))
    material.report(f"{count} stories are read by two readers")
    tables = []
    for spec, weights, scale in (
        ("storyer", settings.reader, "preference"),
        ("storyer(negatives=True)", settings.coherence, "preference_n"),
        ("coherence", settings.coherence, "coherence"),
    ):
        try:
            tables.append(_table(material, spec, weights, scale, read))
        except UserError as error:
            lacking.append(f"No table of {spec}: {error}.")
    words = [
        "Liked and disliked stories of StoryER, HANNA's and MANS's are scored by readers whose "
        "folds had not seen their prompt, wherever such values are kept. Human stories that are "
        "corrupted, ROC stories and VIST references are drawn from what no reader has learned from "
        "(the encoder below them has guessed masked words of such texts). "
        "`storyer` and its variant are shares (.5: the median of StoryER's stories); coherence "
        "has no unit, and its .5 means nothing but half a deviation.",
        *lacking,
    ]
    ways = [name for name in CORRUPTIONS if f"corrupted: {name}" not in read]
    if ways and _HUMAN in read:
        words.append(
            f"Left out: {', '.join(ways)}, of which no story admits. MANPLTS's order needs a "
            "source of events, its contradiction the asset wordnet."
        )
    return words, tables


def _draw_domains(
    material: Material, settings: DistributionSettings
) -> tuple[dict[str, list[Story]], list[str]]:
    """Give the stories that are to be read by the assets, by domain, and what could not be had."""

    def draw(stories: Sequence[Story]) -> list[Story]:
        return draw_stories(stories, settings.others, material.seed)

    def of_mans(part: str) -> list[Story]:
        whole = material.dataset("mans").stories
        return draw([story for story in whole if str(story.item).startswith(part)])

    sources: dict[str, Callable[[], Mapping[str, list[Story]]]] = {
        "human and corrupted stories": lambda: _draw_human(material, settings.stories),
        "ROC stories": lambda: {
            "ROC stories": draw_unlearned(material, "rocstories", settings.others)
        },
        "VIST references": lambda: {"VIST references": vist_references(material, settings.others)},
        "HANNA": lambda: {
            "HANNA, machines": draw(
                [one for one in material.dataset("hanna").stories if one.system != "Human"]
            )
        },
        "MANS": lambda: {f"MANS {part}, machines": of_mans(part) for part in ("roc", "wp")},
    }
    for source in settings.sets:
        sources[source] = partial(_draw_own, source, settings.by, draw, material.data)
    domains: dict[str, list[Story]] = {}
    lacking = []
    for name, give in sources.items():
        try:
            domains |= give()
        except UserError as error:
            if name in settings.sets:
                raise
            lacking.append(f"Without {name}: {error}.")
    return domains, lacking


def _draw_human(material: Material, count: int) -> dict[str, list[Story]]:
    human = draw_unlearned(material, "writingprompts", count)
    corrupted = corrupt(material, human)
    return {_HUMAN: human} | {f"corrupted: {name}": told for name, told in corrupted.items()}


def _draw_own(
    source: str, by: str, draw: Callable[[Sequence[Story]], list[Story]], data: Path | None
) -> dict[str, list[Story]]:
    """Draw stories of every part of a user's set: its systems or genres, liked and disliked."""
    return {
        name: draw(stories)
        for dataset in open_sets(source, by, data=data)
        for name, stories in part_stories(dataset).items()
    }


def _table(
    material: Material, spec: str, weights: str, scale: str, read: Mapping[str, list[Story]]
) -> StudyTable:
    try:
        domains = _unseen_domains(material, material.unseen(weights), scale)
    except UserError as error:  # weights without such values, or the data sets they are of
        material.report(f"{spec}: no values of unseen stories ({error})")
        domains = []
    known = {domain.name for domain in domains}
    metric = METRICS.build(_spell_metric(spec, weights, scale))
    originals: dict[str, float] = {}
    for name, stories in read.items():
        if name in known:
            continue
        values = np.array([score.value for score in metric.score(stories) if score.aspect == ""])
        if name == _HUMAN:  # it comes first: the corrupted ones are made of it
            originals = {story.id: value for story, value in zip(stories, values, strict=True)}
        before = np.zeros(0)
        if name.startswith("corrupted"):
            before = np.array([originals.get(story.id, math.nan) for story in stories])
        items = [str(story.item or story.id) for story in stories]
        by = _KNOWN if name.startswith(("HANNA", "MANS")) else _ASSET
        domains.append(Domain(name, values, items, by, before))
        material.report(f"{spec}, {name}: {len(stories)} stories")
    rows = [_row(material, domain) for domain in domains]
    return StudyTable(f"distribution_{scale}", spec, _COLUMNS, rows, _NOTE)


def _spell_metric(spec: str, weights: str, scale: str) -> str:
    """Name the metric with its weights, unless they are its own."""
    usual = "reader" if scale == "preference" else "coherence"
    if weights == usual:
        return spec
    negatives = ", negatives=True" if scale == "preference_n" else ""
    name = "coherence" if scale == "coherence" else "storyer"
    return f"{name}(weights={weights!r}{negatives})"


def _unseen_domains(material: Material, unseen: UnseenValues, scale: str) -> list[Domain]:
    """Give the domains whose values by readers that had not seen them lie beside the weights."""
    by_name: dict[str, tuple[dict[str, float], dict[str, str]]] = {}  # values and items by story
    if scale != "coherence":
        values, dataset = unseen.values(scale, scale), material.dataset("storyer")
        items = {story.id: str(story.item) for story in dataset.stories}
        liked = {pair.better for pair in dataset.preferences}
        disliked = {pair.worse for pair in dataset.preferences}
        for name, ids in (("human, liked", liked), ("human, disliked", disliked)):
            by_name[name] = ({story: values[story] for story in sorted(ids)}, items)
    for name, task, machine in _RATED:
        if f"{scale}/{task}" in unseen.arrays:
            dataset = material.dataset(source := name.partition(" ")[0].rstrip(",").lower())
            chosen = [story for story in dataset.stories if (story.system != "Human") == machine]
            items = {f"{source}:{story.id}": str(story.item) for story in chosen}
            values = unseen.values(scale, task)
            by_name[name] = ({id_: value for id_, value in values.items() if id_ in items}, items)
    return [
        Domain(name, np.array(list(values.values())), [items[story] for story in values], _FOLDS)
        for name, (values, items) in by_name.items()
    ]


def _row(material: Material, domain: Domain) -> StudyRow:
    values, items = domain.values, domain.items
    known = values[~np.isnan(values)]
    above = np.where(np.isnan(values), np.nan, values > 0.5)
    below = None
    if len(domain.originals):
        below = material.estimate_mean((values < domain.originals).astype(float), items)
    quantiles = np.quantile(known, _QUANTILES).tolist() if len(known) else [math.nan] * 5
    mean, share = (material.estimate_mean(column, items) for column in (values, above))
    return [domain.name, mean, *quantiles, share, below, len(known), domain.by]


def draw_stories(stories: Sequence[Story], count: int, seed: int) -> list[Story]:
    """Draw so many stories, the same ones whatever the order they came in."""
    ordered = sorted(stories, key=lambda story: story.id)
    return random.Random(seed).sample(ordered, min(count, len(ordered)))


def draw_unlearned(material: Material, name: str, count: int) -> list[Story]:
    """Draw stories of a corpus that no reader has learned from, on one line each.

    Corruptions lose line ends, and originals must not differ from them by that. What resembles a
    story that people rated is left out.
    """
    corpus = material.dataset(name)
    kept_back = tuple(story for story in corpus.stories if is_kept_back(detokenise(story.text)))
    free = UnratedStories([material.dataset(rated) for rated in _RATED_SETS])
    unrated = free.stories([replace(corpus, stories=kept_back)], kept_back=True)
    lines = [replace(story, text=" ".join(split_any_case(story.text))) for story in unrated]
    return draw_stories(lines, count, material.seed)


def vist_references(material: Material, count: int) -> list[Story]:
    """Draw human stories of VIST's test albums."""
    texts: dict[str, str] = {}
    for story in vist_part(material.dataset("vist"), "test"):
        for reference in story.references:
            texts.setdefault(detokenise(reference), str(story.item))
    stories = [
        Story(f"vist:{number}", text, item=item)
        for number, (text, item) in enumerate(texts.items())
    ]
    return draw_stories(stories, count, material.seed)


def corrupt(material: Material, stories: Sequence[Story]) -> dict[str, list[Story]]:
    """Corrupt stories in every way of UNION and of MANPLTS, one at a time; their ids stay.

    A story that does not admit of a way is left out of it, and a way that none admits of is not
    given at all.
    """
    whole = [
        story for story in material.dataset("writingprompts").stories if split_any_case(story.text)
    ]
    others = draw_stories(whole, _CORPUS, material.seed)
    corpus = Corpus.of([split_any_case(detokenise(story.text)) for story in others])
    corrupted: dict[str, list[Story]] = {}
    for name, change in _corruptions(corpus, _read_antonyms(material)).items():
        for story in stories:
            rng = random.Random(f"{material.seed} {name} {story.id}")
            sentences = change(split_any_case(story.text), rng)
            if sentences is not None:
                corrupted.setdefault(name, []).append(replace(story, text=" ".join(sentences)))
    return corrupted


def _corruptions(corpus: Corpus, antonyms: Antonyms | None) -> dict[str, Corruption]:
    def writer(rng: random.Random) -> Rewriter:
        return Rewriter(corpus, rng, antonyms)

    ways: tuple[Corruption, ...] = (
        lambda sentences, rng: union.repeat(sentences, seed=rng),
        lambda sentences, rng: union.replace(sentences, others=corpus, seed=rng, antonyms=antonyms),
        lambda sentences, rng: union.shuffle(sentences, seed=rng),
        lambda sentences, rng: union.negate(sentences, seed=rng),
        lambda sentences, rng: writer(rng).repeat(sentences),
        lambda sentences, rng: writer(rng).substitute(sentences),
        lambda sentences, rng: writer(rng).contradict(sentences),
    )
    # The last of MANPLTS, events told in the wrong order, has no source of events here.
    return dict(zip(CORRUPTIONS, ways, strict=False))


def _read_antonyms(material: Material) -> Antonyms | None:
    from fabula.models import path_of

    try:
        return read_wordnet(path_of("wordnet") / "corpora" / "wordnet")
    except UserError as error:
        material.report(f"corruptions without antonyms: {error}")
        return None
