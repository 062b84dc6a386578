"""Parts of a campaign's live page: how far it is, whether raters agree, and what they found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean, median

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import count_text
from fabula.meta.certificate import Certificate
from fabula.meta.ranking.means import system_means
from fabula.meta.ranking.systems import Resampling, rank_systems
from fabula.meta.raters.agreement import Agreement, AgreementLine, agree
from fabula.meta.raters.chosen import ChosenAgreement, agree_on_chosen
from fabula.meta.raters.ratings import ratings_of
from fabula.meta.raters.reliability import find_reliability
from fabula.reports.agreement import agreement_words
from fabula.reports.figures.bars import Bar, draw_bars
from fabula.reports.figures.drawing import shorten_names
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.tables import Cell, Table, Value
from fabula.scoring.certificates import find_certificates, verdict_words
from fabula.studio.campaigns.checks import Flag, find_flags
from fabula.studio.campaigns.opinions import code_choices, list_rated_aspects, make_dataset
from fabula.studio.campaigns.results import (
    Pace,
    Remark,
    SystemGap,
    compare_scorers,
    compare_systems,
    list_remarks,
    measure_pace,
)
from fabula.studio.campaigns.work import Work
from fabula.web.dashboard.parts import Part, number_cell

# Intervals of the live page come of so many draws; a report has more.
RESAMPLES = 200
COEFFICIENTS = ("ICC(1,1)", "ICC(2,k)", "ICC(3,k)", "alpha", "Fleiss kappa")
_MOST_GAPS = 20
_CERTIFIED = (
    "A judge claims to rate as people do. Its certificate says how far it did on stories whose "
    "ratings are known, beside counting words; where there is none, nobody knows: fabula judge "
    "certify measures it, also against this campaign's own export."
)


@dataclass(frozen=True)
class CampaignBoard:
    """All that the live page says of a campaign at one moment."""

    made_at: datetime
    work: Work = field(repr=False)
    pace: Pace
    parts: tuple[Part, ...] = field(repr=False)
    flags: tuple[Flag, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def find(self, name: str) -> Part | None:
        """The part of a name, if there is one."""
        return next((part for part in self.parts if part.name == name), None)


def make_board(work: Work) -> CampaignBoard:
    """Find out everything about a campaign from its work."""
    flags, pace = find_flags(work), measure_pace(work)
    dataset = make_dataset(work)
    aspects = list_rated_aspects(work)
    found = agree(dataset, resamples=RESAMPLES) if len(dataset.ratings) else None
    parts = [show_progress(work), show_agreement(found), show_raters(work, found, flags)]
    if chosen := agree_on_chosen(dataset.ratings, resamples=RESAMPLES):
        parts.append(show_chosen(chosen))
    if codes := code_choices(work):
        parts.append(show_reliability(codes))
    if aspects:
        parts += [show_systems(dataset, aspects), show_gaps(dataset, aspects)]
    if dataset.preferences:
        parts.append(show_choices(dataset))
    if dataset.scores:
        parts.append(show_scorers(dataset, aspects))
    remarks = tuple(list_remarks(work))
    return CampaignBoard(datetime.now(UTC), work, pace, tuple(parts), tuple(flags), remarks)


def show_progress(work: Work) -> Part:
    """How many ratings tasks have, of those that are wanted."""
    own = [task for task in work.tasks.values() if task.kind == "story"]
    done = Counter(one.task for one in work.accepted)
    wanted = sum(task.wanted for task in own)
    accepted = sum(min(done[task.id], task.wanted) for task in own)
    counts = Counter(done[task.id] for task in own)
    rows: list[list[Cell | Value]] = [
        [str(number), counts[number], sum(task.wanted == number for task in own)]
        for number in range(max([*counts, *(task.wanted for task in own), 0]) + 1)
    ]
    share = 100 * accepted / wanted if wanted else 0.0
    words = (
        f"{accepted:,} of {count_text(wanted, 'rating')} are in ({share:.0f} %); "
        f"{count_text(sum(done[task.id] >= task.wanted for task in own), 'task')} of {len(own):,} "
        "have all they need."
    )

    def draw(width: int) -> str:
        bars = [Bar(count_text(number, "rating"), {"tasks": float(counts[number])})
                for number in range(len(rows))]  # fmt: skip
        return draw_bars(bars, title="Tasks by number of ratings", x_label="tasks", width=width)

    heads = ["accepted ratings", "tasks that have so many", "tasks that want so many"]
    return Part("progress", "How far it is", words, Table(heads, rows), draw=draw)


def show_agreement(found: Agreement | None) -> Part:
    """How far raters agree on each question, by every coefficient that is asked for."""
    title, name = "Do raters agree?", "agreement"
    if found is None:
        return Part(name, title, missing="Nobody has rated a story yet.")
    rows: list[list[Cell | Value]] = []
    for aspect in found.aspects:
        lines = [found.line(aspect, statistic) for statistic in COEFFICIENTS]
        ratings = next((line.ratings for line in lines if line), 0)
        rows.append([aspect, ratings, *(_agreement_cell(line) for line in lines)])
    heads = ["question", "ratings", *COEFFICIENTS]
    words = agreement_words(found)
    return Part(
        name, title, words[0] if words else "", Table(heads, rows), found.rows(),
        notes=("95 % intervals, by F for the ICC, else by bootstrap over stories. "
               "ICC(2,k) and ICC(3,k) need stories that the same raters rated.",),
    )  # fmt: skip


def _agreement_cell(line: AgreementLine | None) -> Cell:
    if line is None or not math.isfinite(line.estimate.value):
        return Cell(math.nan, "–", tone="quiet", title=line.note if line else "")
    ends = interval_text(line.estimate.low, line.estimate.high, 2)
    return Cell(line.estimate.value, number_text(line.estimate.value, 2), aside=ends)


def show_raters(work: Work, found: Agreement | None, flags: Sequence[Flag]) -> Part:
    """Each rater: how much, how fast, how strict, and how far they follow the others."""
    counts = Counter(flag.rater for flag in flags)
    rows: list[list[Cell | Value]] = []
    for rater in work.raters.values():
        done = work.by_rater[rater.id]
        gaps = [work.gaps_s[one.id] for one in done]
        lines = [line for line in (found.raters if found else ())
                 if line.rater == rater.name]  # fmt: skip
        bias = [line.bias for line in lines if math.isfinite(line.bias)]
        follows = [line.correlation for line in lines if math.isfinite(line.correlation)]
        flagged = counts[rater.id]
        rows.append([
            rater.name,
            rater.way,
            len(done),
            sum(one.is_rejected for one in done),
            number_cell(median(gaps) if gaps else math.nan, 0),
            number_cell(fmean(bias) if bias else math.nan, 2, "alone" if done else ""),
            number_cell(fmean(follows) if follows else math.nan, 2, "too few" if done else ""),
            Cell(flagged, tone="warn" if flagged else ""),
            rater.state,
        ])  # fmt: skip
    heads = [
        "rater", "came by", "tasks", "rejected", "median s", "severity", "consistency",
        "flags", "state",
    ]  # fmt: skip
    notes = (
        "Severity is the mean difference from the others' mean of the same stories, over all "
        "questions: above 0 is milder. Consistency is the mean correlation with that mean. Seconds "
        "are gaps between submits, which no browser tells.",
    )
    missing = "" if rows else "Nobody has come in yet."
    return Part("raters", "Raters", table=Table(heads, rows), missing=missing, notes=notes)


def show_chosen(found: ChosenAgreement) -> Part:
    """How far raters agree where each chose what to speak of."""
    figures = {
        "aspects of a story that more than one rater chose": found.shared,
        "ρ of two raters on an aspect that both chose": found.spearman,
        "τ of the same": found.kendall,
    }
    rows: list[list[Cell | Value]] = [
        [name, number_cell(value.value, 2, "too few"),
         interval_text(value.low, value.high, 2) or "–", value.n]
        for name, value in figures.items()
    ]  # fmt: skip
    words = (
        f"Of {count_text(found.chosen, 'aspect')} chosen for "
        f"{count_text(found.stories, 'story', 'stories')} with two raters or more, "
        f"{number_text(100 * found.shared.value, 0)} % were chosen by more than "
        f"one; by chance it would be {number_text(100 * found.chance, 0)} %."
    )
    heads = ["agreement on what was chosen", "value", "95 %", "n"]
    return Part("chosen", "Aspects that raters chose", words, Table(heads, rows))


def show_reliability(codes: Sequence[Score]) -> Part:
    """How reliable each rater is where answers are categories (Dawid and Skene, 1979)."""
    rows: list[list[Cell | Value]] = []
    for rated in ratings_of(codes):
        if (found := find_reliability(rated)) is None:
            continue
        rows += [
            [rated.aspect, rater, number_cell(right, 2), number_cell(beyond, 2, "same answers")]
            for rater, right, beyond in zip(
                found.raters, found.accuracy.tolist(), found.informedness.tolist(), strict=True
            )
        ]
    heads = ["question", "rater", "right", "beyond habit"]
    notes = (
        "By Dawid and Skene's model: what is true of a story is guessed from all raters, each by "
        "what is known of them. “Beyond habit” is 0 for who answers at random or always the same.",
    )
    missing = "" if rows else "Two raters and two different answers are needed."
    return Part("reliability", "How reliable raters are", "", Table(heads, rows),
                missing=missing, notes=notes)  # fmt: skip


def show_systems(dataset: Dataset, aspects: Sequence[str]) -> Part:
    """Mean rating of every system with its interval, question by question."""
    means = system_means(dataset.ratings, over="items")
    cells = {key: mean for key, mean in means.items() if key[1] in aspects}
    rows: list[list[Cell | Value]] = [
        [system or "–", aspect, mean.n, number_cell(mean.value, 2),
         interval_text(mean.low, mean.high, 2) or "–"]
        for (system, aspect), mean in cells.items()
    ]  # fmt: skip
    scales = [dataset.card.scale(aspect) for aspect in aspects]
    ends = [scale for scale in scales if scale] or [(1.0, 5.0)]

    def draw(width: int) -> str:
        called = shorten_names({system or "–" for system, _ in cells}, 0.29 * min(width, 650))
        return draw_intervals(
            [
                Interval(called[system or "–"], mean.value, mean.low, mean.high, group=aspect,
                         note=f"n = {mean.n}")
                for aspect in aspects
                for (system, named), mean in cells.items() if named == aspect
            ],
            title="Mean rating of each system",
            x_label="mean rating over stories",
            low=min(low for low, _ in ends),
            high=max(high for _, high in ends),
            decimals=2,
            width=width,
        )  # fmt: skip

    heads = ["system", "question", "stories", "mean", "95 %"]
    return Part(
        "systems", "What they say of each system", "", Table(heads, rows),
        draw=draw if cells else None, missing="" if cells else "Nobody has rated a story yet.",
        notes=("Ratings of a story are averaged first; intervals are Student's, over stories.",),
    )  # fmt: skip


def show_gaps(dataset: Dataset, aspects: Sequence[str]) -> Part:
    """Which differences are settled, and how many items would settle the others."""
    gaps = [gap for aspect in aspects for gap in compare_systems(dataset, aspect)]
    settled = sum(gap.is_settled for gap in gaps)
    words = ""
    if gaps:
        words = f"{settled} of {count_text(len(gaps), 'difference')} between systems are settled."
    open_first = sorted(gaps, key=lambda gap: (gap.is_settled, gap.needed or math.inf))
    rows = [_gap_cells(gap) for gap in open_first[:_MOST_GAPS]]
    heads = ["question", "difference", "by", "95 %", "items", "items that would settle it"]
    return Part(
        "gaps", "What would settle it", words, Table(heads, rows),
        [_gap_record(gap) for gap in gaps],
        missing="" if gaps else "No two systems have ratings of two items or more in common.",
        notes=("Paired by item; intervals allow for all pairs of systems. “Would settle it”: a "
               "difference of the size seen so far is shown 8 times in 10.",),
    )  # fmt: skip


def _gap_cells(gap: SystemGap) -> list[Cell | Value]:
    if gap.is_settled:
        state = Cell("settled", tone="good")
    elif gap.needed:
        state = Cell(gap.needed)
    else:
        state = Cell("–", tone="quiet", title="no difference so far")
    ends = interval_text(gap.difference.low, gap.difference.high, 2)
    by = number_cell(gap.difference.value, 2)
    return [gap.aspect, f"{gap.better} > {gap.worse}", by, ends or "–", gap.difference.n, state]


def _gap_record(gap: SystemGap) -> dict[str, Value]:
    return {
        "question": gap.aspect, "better": gap.better, "worse": gap.worse,
        **gap.difference.plain(), "items": gap.difference.n, "items_needed": gap.needed,
        "settled": int(gap.is_settled),
    }  # fmt: skip


def show_choices(dataset: Dataset) -> Part:
    """Which systems win where stories were compared, question by question."""
    rows: list[list[Cell | Value]] = []
    missing = ""
    for aspect in dict.fromkeys(one.aspect for one in dataset.preferences):
        chosen = tuple(one for one in dataset.preferences if one.aspect == aspect)
        one_question = Dataset(dataset.name, dataset.card, dataset.stories, preferences=chosen)
        try:
            ranking = rank_systems(one_question, by="win_rate", how=Resampling(RESAMPLES))
        except InputError as error:
            missing = f"{error.problem[0].upper()}{error.problem[1:]}."
            continue
        rows += [
            [aspect, line.system, number_cell(line.estimate.value, 2),
             interval_text(line.estimate.low, line.estimate.high, 2) or "–", len(chosen)]
            for line in ranking.lines
        ]  # fmt: skip
    heads = ["question", "system", "wins", "95 %", "choices"]
    words = "Share of the comparisons with another system that each system wins."
    return Part("choices", "Which they prefer", words, Table(heads, rows), missing=missing)


def show_scorers(dataset: Dataset, aspects: Sequence[str]) -> Part:
    """Scorers that stand in the campaign as raters, beside people; judges with their verdicts."""
    partings = [parting for aspect in aspects for parting in compare_scorers(dataset, aspect)]
    certificates = find_certificates(one.scorer for one in partings)
    rows: list[list[Cell | Value]] = [
        [
            f"{one.scorer} {one.scorer_aspect}".rstrip(),
            *([_show_worth(certificates.get(one.scorer), one.scorer_aspect)] if certificates
              else []),
            one.aspect, number_cell(one.rho, 2, "too few"), one.n,
            "; ".join(f"{story} (people {100 * human:.0f}, it {100 * machine:.0f})"
                      for story, human, machine in one.furthest) or "–",
        ]
        for one in partings
    ]  # fmt: skip
    worth = ["certificate"] if certificates else []
    heads = ["scorer", *worth, "question", "ρ", "stories", "furthest apart (rank of 100)"]
    words = "These are no people: what metrics or models say of the same stories."
    notes = (_CERTIFIED,) if certificates else ()
    return Part("scorers", "Machines beside people", words, Table(heads, rows), notes=notes)


def _show_worth(certificates: Sequence[Certificate] | None, aspect: str) -> str:
    """Say what a judge's values are worth; who is no judge claims nothing."""
    return "–" if certificates is None else verdict_words(certificates, aspect)
