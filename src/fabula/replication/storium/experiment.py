"""STORIUM's experiment: what packing and history are worth (Akoury et al., 2020, Table 4).

Perplexity of held-out entries by variant, what changes with each of the two, and how people rated
such machines where a studio has asked them. What the paper prints stands beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from fabula.core.errors import InputError
from fabula.core.story import count_text
from fabula.core.table import ScoreTable
from fabula.learned.training.author_figures import (
    EntryLosses,
    estimate_perplexity,
    estimate_ratio,
)
from fabula.meta.resampling import Estimate, estimate_mean
from fabula.replication.findings import Findings, StudyCell, StudyRow, StudyTable
from fabula.replication.storium.trained import (
    LOSSES,
    SEGMENTS,
    TrainedVariant,
    VariantKey,
    choose_entries,
    combine_losses,
    gather_variants,
    keep_shared,
)
from fabula.replication.storium.trainings import VariantTrainings, train_missing

ASPECTS = ("fluency", "coherence", "likability", "relevance")


@dataclass(frozen=True)
class PrintedVariant:
    """A row of Table 4: means of people's ratings, and how many there were."""

    perplexity: float
    ratings: Mapping[str, float]
    n: int


def _print_row(perplexity: float, *values: float, n: int) -> PrintedVariant:
    return PrintedVariant(perplexity, dict(zip(ASPECTS, values, strict=True)), n)


# By whether there were packing and history. Its numbers are those of GPT-2 medium on STORIUM.
PRINTED: Mapping[tuple[bool, bool], PrintedVariant] = {
    (False, False): _print_row(25.1, 3.4, 2.9, 3.8, 2.3, n=90),
    (False, True): _print_row(22.4, 3.1, 2.7, 3.9, 2.3, n=77),
    (True, False): _print_row(22.9, 3.6, 2.8, 3.6, 2.4, n=62),
    (True, True): _print_row(21.0, 3.7, 3.2, 4.1, 2.7, n=85),
}


@dataclass(frozen=True)
class RatedMachines:
    """What a studio exported, and which of its machines is which variant.

    `machines` has names of machines and what the variant is called: `cassowary, history 1`.
    """

    export: str = ""
    machines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Where figures lie, which part of the held-out games counts, and how often is drawn.

    With `games` the variants that are missing are trained, into the first of the paths.
    """

    paths: tuple[Path, ...]
    part: str = "test"
    seed: int = 1
    resamples: int = 1000
    folder: Path = Path()  # as seen from which the file names an export
    report: Callable[[str], None] = lambda line: None
    games: tuple[Path, ...] = ()

    @cached_property
    def variants(self) -> list[TrainedVariant]:
        """All variants that were trained."""
        if not self.paths:
            raise InputError(
                "no trainings are named",
                "pass their folder with --data, or games to train on with --path and -o",
            )
        if not (found := gather_variants(self.paths)):
            places = ", ".join(map(str, self.paths))
            raise InputError(
                f"{places}: no figures of a training on games",
                "run fabula train author --format storium for every variant first",
            )
        return found

    @cached_property
    def losses(self) -> dict[VariantKey, EntryLosses]:
        """What the entries that all variants showed whole lost, by variant."""
        losses = keep_shared([each.average_losses(self.part) for each in self.variants])
        if not len(losses[0]):
            raise InputError("no entry was shown whole by all variants", "set a larger budget")
        return dict(zip((each.key for each in self.variants), losses, strict=True))

    def estimate_perplexity(self, losses: EntryLosses) -> Estimate:
        """Estimate a perplexity, with games drawn again."""
        return estimate_perplexity(losses, resamples=self.resamples, seed=self.seed)

    def estimate_change(self, one: EntryLosses, other: EntryLosses) -> Estimate:
        """Estimate by how many per cent the perplexity of the first is above that of the other."""
        ratio = estimate_ratio(one, other, resamples=self.resamples, seed=self.seed)
        value, low, high = (100 * (end - 1) for end in (ratio.value, ratio.low, ratio.high))
        return Estimate(value, low, high, ratio.n)


def gather_trainings(experiment: Experiment, settings: VariantTrainings) -> Findings:
    """Which trainings there are, and on how much they were; those that are missing come first."""
    words = ["Read as others left them: no games were named to train on."]
    if experiment.games and experiment.paths:
        fresh = train_missing(settings, experiment.games, experiment.paths[0], experiment.report)
        words = [f"{count_text(fresh, 'training')} made now; those that were there were not again."]
    rows: list[StudyRow] = []
    for variant in experiment.variants:
        first = variant.trainings[0]
        learned = first.data.get("counts", {})
        held = variant.average_losses(experiment.part)
        seeds = ", ".join(str(each.seed) for each in variant.trainings)
        steps = ", ".join(f"{each.step:,}" for each in variant.trainings)
        counts = [learned.get(name) for name in ("games", "train entries")]
        rows.append([variant.name, seeds, *counts, len(held), sum(held.tokens), steps])
    columns = ("variant", "seeds", "games", "learned", "held out", "tokens", "best step")
    note = (
        f"learned, held out: entries of characters; held out and tokens are of {experiment.part}."
    )
    return words, [StudyTable("trainings", "Trainings", columns, rows, note)]


def compare_perplexity(experiment: Experiment, _settings: object) -> Findings:
    """Perplexity of every variant, with what its seeds and the untrained model have."""
    rows: list[StudyRow] = []
    for variant in experiment.variants:
        shared = experiment.losses[variant.key]
        whole = variant.average_losses(experiment.part)
        printed = PRINTED[variant.key[0] != "none", variant.key[1] > 0]
        rows.append(
            [
                variant.name,
                experiment.estimate_perplexity(shared),
                _list_seeds(experiment, variant, shared),
                _find_before(experiment, variant, shared),
                f"{sum(whole.whole):,} of {len(whole):,}",
                printed.perplexity,
            ]
        )
    first = next(iter(experiment.losses.values()))
    trained = experiment.variants[0].trainings[0]
    learned = {each.trainings[0].loss for each in experiment.variants}
    loss = f", {LOSSES.get(trained.loss, trained.loss)}" if len(learned) == 1 else ""
    words = [
        f"{trained.model}, budget of {trained.budget:,} tokens{loss}. Perplexity is over the "
        f"{count_text(len(first), 'entry', 'entries')} of "
        f"{count_text(len(set(first.games)), 'game')} (part {experiment.part}) that all variants "
        "showed whole, that of each seed and of the untrained model as well; intervals of 95 % by "
        "drawing games again, losses averaged over seeds first.",
    ]
    return words, [_tell_perplexity(experiment, rows)]


def _tell_perplexity(experiment: Experiment, rows: list[StudyRow]) -> StudyTable:
    """Make the table; the paper's figures stand in it where what the paper varied varies."""
    columns: tuple[str, ...] = (
        "variant",
        "perplexity",
        "by seed",
        "untrained",
        "shown whole",
        "printed",
    )
    note = "printed: GPT-2 medium on STORIUM's games; other games have other perplexities."
    drawn = "perplexity of held-out entries; lower is better"
    title = "Perplexity by packing and history"
    if len({variant.key[:2] for variant in experiment.variants}) == 1:
        rows, columns, note = [row[:-1] for row in rows], columns[:-1], ""
        title = "Perplexity by how variants learned"
    return StudyTable("perplexity", title, columns, rows, note, 2, drawn)


def _list_seeds(experiment: Experiment, variant: TrainedVariant, shared: EntryLosses) -> str:
    """Write the perplexity of each seed, over the entries that all variants share."""
    parts = [figures.parts[experiment.part] for figures in variant.trainings]
    values = [experiment.estimate_perplexity(choose_entries(each, shared)).value for each in parts]
    return ", ".join(f"{value:.2f}" for value in values)


def _find_before(experiment: Experiment, variant: TrainedVariant, shared: EntryLosses) -> StudyCell:
    if any(experiment.part not in each.before for each in variant.trainings):
        return None
    before = variant.average_losses(experiment.part, before=True)
    return experiment.estimate_perplexity(choose_entries(before, shared)).value


def compare_effects(experiment: Experiment, _settings: object) -> Findings:
    """What changes with packing, with history, with both, and whether one needs the other.

    Where trainings differ in how they learn, also what that changes.
    """
    rows: list[StudyRow] = []
    seeds = _change_by_seed(experiment)
    for name, one, other in list_contrasts(experiment.losses):
        change = experiment.estimate_change(one, other)
        told = ", ".join(f"{seed[name]:.1f}".replace("-", "−") for seed in seeds)
        rows.append([name, change, told or None, change.n, _judge(change)])
    if not rows:
        raise InputError(
            "the trainings differ in nothing that is compared", "train another variant"
        )
    words = [
        "Change of perplexity in per cent on the same entries, games drawn together for both: "
        "below 0 the first is better. Where an interval holds 0, no difference is shown. “Both, "
        "beyond each alone” says whether history does more (below 0) or less with packing. "
        "Intervals draw games, not trainings: “by seed” is what each seed shows by itself.",
    ]
    columns = ("change by", "per cent", "by seed", "games", "shown")
    drawn = "change of perplexity in per cent; lower is better"
    return words, [StudyTable("effects", "What each is worth", columns, rows, "", 1, drawn)]


def _change_by_seed(experiment: Experiment) -> list[dict[str, float]]:
    """Give every change as each seed shows it by itself: those with which all were trained."""
    trained = {
        variant.key: {each.seed: each.parts[experiment.part] for each in variant.trainings}
        for variant in experiment.variants
    }
    seeds = sorted(set.intersection(*({*each} for each in trained.values())))
    changes = []
    for seed in seeds:
        losses = {
            key: choose_entries(trained[key][seed], shared)
            for key, shared in experiment.losses.items()
        }
        contrasts = list_contrasts(losses)
        changes.append({n: experiment.estimate_change(a, b).value for n, a, b in contrasts})
    return changes


def list_contrasts(
    losses: Mapping[VariantKey, EntryLosses],
) -> Iterator[tuple[str, EntryLosses, EntryLosses]]:
    """Go through pairs of variants that say something together."""
    ways = list(dict.fromkeys(key[2:] for key in losses))  # of learning
    for way in ways:
        shown = {(key[0], key[1]): each for key, each in losses.items() if key[2:] == way}
        more = f", {LOSSES.get(way[0], way[0])}, {SEGMENTS.get(way[1], way[1])}"
        for name, one, other in _contrast_shown(shown):
            yield f"{name}{more if len(ways) > 1 else ''}", one, other
    views = list(dict.fromkeys(key[:2] for key in losses))
    for view in views if len(ways) > 1 else ():
        learned = {(key[2], key[3]): each for key, each in losses.items() if key[:2] == view}
        more = f", {view[0]}, history {view[1]}"
        for name, one, other in _contrast_learned(learned):
            yield f"{name}{more if len(views) > 1 else ''}", one, other


def _contrast_learned(
    losses: Mapping[tuple[str, str], EntryLosses],
) -> Iterator[tuple[str, EntryLosses, EntryLosses]]:
    """Learning from all tokens over the entry's alone, marks among tokens over their own table."""
    tokens, entry, kept, own = LOSSES["all"], LOSSES["story"], SEGMENTS["tokens"], SEGMENTS["own"]
    for segments in SEGMENTS:
        one, other = losses.get(("all", segments)), losses.get(("story", segments))
        if one and other:
            yield f"{tokens} over {entry}, {SEGMENTS[segments]}", one, other
    for loss in LOSSES:
        one, other = losses.get((loss, "tokens")), losses.get((loss, "own"))
        if one and other:
            yield f"{kept} over {own}, {LOSSES[loss]}", one, other
    released, ours = losses.get(("all", "tokens")), losses.get(("story", "own"))
    if released and ours:
        yield "both as released over neither", released, ours


def _contrast_shown(
    losses: Mapping[tuple[str, int], EntryLosses],
) -> Iterator[tuple[str, EntryLosses, EntryLosses]]:
    """Packing over none, history over none, and both."""
    packings = list(dict.fromkeys(packing for packing, _ in losses))
    lengths = sorted({history for _, history in losses})
    for packing in packings[1:]:
        for history in lengths:
            one, other = losses.get((packing, history)), losses.get((packings[0], history))
            if one and other:
                yield f"{packing} over {packings[0]}, history {history}", one, other
    for history in lengths[1:]:
        for packing in packings:
            one, other = losses.get((packing, history)), losses.get((packing, lengths[0]))
            if one and other:
                yield f"history {history} over {lengths[0]}, {packing}", one, other
    if len(packings) < 2 or len(lengths) < 2:
        return
    none, both = losses.get((packings[0], lengths[0])), losses.get((packings[-1], lengths[-1]))
    packed, told = losses.get((packings[-1], lengths[0])), losses.get((packings[0], lengths[-1]))
    if none and both:
        yield "both over neither", both, none
    if none and both and packed and told:
        yield "both, beyond each alone", combine_losses(both, none), combine_losses(packed, told)


def _judge(change: Estimate) -> str:
    if math.isnan(change.low):
        return "too few games"
    if change.low <= 0 <= change.high:
        return "no difference"
    return "better" if change.high < 0 else "worse"


def compare_ratings(experiment: Experiment, settings: RatedMachines) -> Findings:
    """Means of people's ratings of each variant's machines, with n; intervals by game."""
    if not settings.export:
        raise InputError(
            "no export of a studio is named",
            "set export in [ratings], and machines; fabula studio export writes one",
        )
    table = ScoreTable.load(experiment.folder / settings.export)
    known = {story.system for story in table.stories}
    if unknown := sorted(settings.machines.keys() - known):
        raise InputError(f"{settings.export}: no machine is called {unknown[0]!r}", "mend machines")
    rated = _mean_ratings(table)
    rows: list[StudyRow] = []
    for variant in dict.fromkeys(settings.machines.values()):
        names = [name for name, of in settings.machines.items() if of == variant]
        own = [story for story in table.stories if story.system in names]
        row: StudyRow = [variant]
        for aspect in ASPECTS:
            values = np.array([rated.get((story.id, aspect), math.nan) for story in own])
            games = [(story.item or "").rpartition(":")[0] for story in own]
            row.append(estimate_mean(values, games, resamples=experiment.resamples))
        told = sum(any((story.id, aspect) in rated for aspect in ASPECTS) for story in own)
        rows.append([*row, told])
        if printed := _find_printed(variant):
            rows.append([f"{variant}, printed", *printed.ratings.values(), printed.n])
    words = [
        "Means of what people said of suggestions (1 to 5), a suggestion's raters averaged first; "
        "intervals of 95 % by drawing games again, none of fewer than five games.",
    ]
    columns = ("variant", *ASPECTS, "n")
    return words, [StudyTable("ratings", "Ratings by variant", columns, rows, "", 2)]


def _find_printed(variant: str) -> PrintedVariant | None:
    """Give what the paper prints of a variant, by its name: `none, history 0`."""
    packing, sign, history = variant.partition(", history ")
    return PRINTED[packing != "none", history != "0"] if sign else None


def _mean_ratings(table: ScoreTable) -> dict[tuple[str, str], float]:
    values: dict[tuple[str, str], list[float]] = {}
    for score in table:
        if score.scorer.startswith("human:") and not math.isnan(score.value):
            values.setdefault((score.story, score.aspect), []).append(score.value)
    return {key: float(np.mean(each)) for key, each in values.items()}


def show_printed(_experiment: Experiment, _settings: object) -> Findings:
    """Table 4 as it is printed."""
    names = {False: ("no packing", "no history"), True: ("packing", "history")}
    rows: Sequence[StudyRow] = [
        [f"{names[packed][0]}, {names[told][1]}", row.perplexity, *row.ratings.values(), row.n]
        for (packed, told), row in PRINTED.items()
    ]
    columns = ("variant", "perplexity", *ASPECTS, "n")
    words = ["Akoury et al. (2020), Table 4: GPT-2 medium; n ratings of each; no intervals there."]
    return words, [StudyTable("printed", "Table 4 as printed", columns, rows, "", 1)]
