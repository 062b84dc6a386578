"""A review to read: in a terminal, as Markdown or JSON, or as a page that needs nothing else.

The order is everywhere the same: where the story stands, the criteria and what is measured beside
them, what to look at, questions to the text, and numbers last.
"""

from __future__ import annotations

import math
import re
import shutil
import textwrap
from collections.abc import Sequence

from fabula.core.errors import SettingError
from fabula.core.story import count_text
from fabula.core.table import json_text, without_halves
from fabula.learned.writers import Ends, WriterOpinion
from fabula.reports.numbers import number_text, statistic_name, statistic_text
from fabula.scoring.review import AspectReview, Gauge, MissingPart, PlacedTransition, Review
from fabula.text.repetition import Repetition

FORMS = ("text", "md", "json", "html")
_BAR = 10
_SPARKS = "▁▂▃▄▅▆▇█"
_MOST_SPARKS = 60
MOST_REPEATED = 5
ASPECT_WORDS = {
    "opening": "opening",
    "middle": "middle",
    "ending": "ending",
    "character": "character",
    "scene": "scene",
    "heartwarming": "warmth",
    "sad": "sadness",
    "horror": "horror",
    "funny": "humour",
    "novelty": "idea",
}
GAUGE_LEGEND = (
    "People: eight of ten stories of such a length that people wrote lie between the two. "
    "Shuffled: the middle of such stories, their sentences or words in a chance order. Of the "
    "criteria only coherence tells a story from its own sentences shuffled; what is "
    "measured here does, in 7 to 9 of 10 stories."
)
NOTHING_RARE = (
    "No habit that is counted here (openings, echoes, adverbs, rhythm, repetition, …) is rarer "
    "than in 1 of 10 human stories: there is no comment rather than one that would fit any story."
)
PARTINGS = {
    "readers": "The two part: readers, who vote for stories, would think more of it than writers, "
    "who score the sentences and mark down clichés, purple prose and what is explained though it "
    "was shown. Whom to heed depends on whom it is for.",
    "writers": "The two part: writers, who score the sentences, would think more of it than "
    "readers, who vote for stories. The prose is not what holds it back.",
}
_HUMAN = "of 100 human stories"
_AMONG = re.compile(r"percentiles are among ([^;]+)")  # as a score's note says of other stories
_WITHHELD = (
    "What writers would score is learned from sound prose, and rises where words or sentences are "
    "broken."
)


def gauge_words(gauge: Gauge) -> str:
    """Say where the value lies among people's, and where others stand; nothing if not known."""
    if gauge.peers is None:
        return ""
    low, high = gauge.peers.usual
    place = "low" if gauge.value < low else "high" if gauge.value > high else "usual"
    usual = f"{place}: people {number_text(low, 2)} to {number_text(high, 2)}"
    others = [f"{name} {number_text(at, 2)}" for name, at in gauge.peers.marks.items()]
    return " · ".join([usual, *others])


def loose_words(review: Review) -> list[str]:
    """Say it in words where both gauges of coherence are lower than nine of ten stories have."""
    words = "Both are lower than in nine of ten human stories: its sentences hardly hold together."
    return [words] if review.is_loose else []


def preference_words(review: Review) -> str:
    """Say where a story stands among those that people wrote."""
    if not math.isfinite(review.percentile):
        if math.isfinite(review.preference):
            return f"Preference {number_text(review.preference, 1)}; no percentile is known for it."
        return "There is no preference for this story."
    liked = "Readers would like it better" if review.writers else "Liked better"
    among = next(filter(None, map(_AMONG.search, review.warnings)), None)
    peers = f"% of {among[1]}" if among else _HUMAN
    return f"{liked} than {_place_words(review.percentile, review.interval, peers)}."


def writers_words(writers: WriterOpinion) -> str:
    """Say how professional writers would score a story, and where that stands, or why not."""
    if writers.withheld:
        return f"Writers: no opinion, for {writers.withheld}. {_WITHHELD}"
    score = f"{number_text(writers.score, 1)} of 10"
    if math.isfinite(writers.percentile):
        place = _place_words(writers.percentile, writers.interval)
        return f"Writers would score it {score}, higher than {place}."
    if writers.usual is None:
        return f"Writers would score it {score}; no percentile is known for it."
    low, high = (number_text(end, 1) for end in writers.usual)
    if not writers.tenth:
        return f"Writers would score it {score}; eight of ten human stories have {low} to {high}."
    end, than = (low, "lower") if writers.tenth == "lowest" else (high, "higher")
    return f"Writers would score it {score}, {than} than nine of ten human stories (beyond {end})."


def _place_words(percentile: float, interval: Ends, peers: str = _HUMAN) -> str:
    low, high = interval
    words = f"about {percentile:.0f} {peers}"
    if not (math.isfinite(low) and math.isfinite(high)):
        return words
    if round(low) == round(high):
        return f"{words}; another training would say the same"
    return f"{words}; another training might say {low:.0f} to {high:.0f}"


def parting_words(review: Review) -> list[str]:
    """Say what it means where readers and writers part; nothing where they do not."""
    return [PARTINGS[review.parting]] if review.parting else []


def render_review(form: str, review: Review) -> str:
    """Write a review as text, md, json or html."""
    if form == "json":
        return json_text(review.plain(), indent=2)
    if form == "md":
        from fabula.reports._review_markdown import review_markdown

        return review_markdown(review)
    if form == "html":
        # The page takes its words from here.
        from fabula.reports.review_page import review_page

        return review_page(review)
    if form != "text":
        raise SettingError(f"a review is not written as {form}", f"known: {', '.join(FORMS)}")
    return f"{scores_text(review)}\n\n{comments_text(review)}".strip()


def scores_text(review: Review) -> str:
    """Write all but the comments, which may come later."""
    parts = [
        review.story.id,
        *([_warnings(review)] if review.warnings or review.missing else []),
        _wrap(unlike_words(review)) if review.unlike else _standing(review),
        _criteria(review),
        _judged(review),
        _gauges(review),
        _pictures(review),
        _flow(review),
        _repetition(review),
        _statistics(review),
    ]
    return without_halves("\n\n".join(part for part in parts if part))


def comments_text(review: Review) -> str:
    """Write the comments."""
    lines = []
    for observation in review.observations or ():
        lines += [f"  {observation.name}", _wrap(observation.text, indent=4)]
    for aspect in shown_aspects(review):
        lines.append(f"  {aspect_words(review, aspect)}")
        if aspect.comment:
            lines.append(_wrap(aspect.comment, indent=4))
    if not lines and review.observations is None:
        return ""
    after = [_wrap(words) for words in [unrated_words(review)] if words]
    return without_halves("\n".join(["Comments", *(lines or [_wrap(NOTHING_RARE)]), *after]))


def shown_aspects(review: Review) -> list[AspectReview]:
    """Choose the aspects that a reader itself speaks of, the surest first, or commented ones."""
    if not review.spoken:
        return [aspect for aspect in review.aspects if aspect.comment]
    return sorted(
        (aspect for aspect in review.aspects if aspect.name in review.spoken),
        key=lambda aspect: review.spoken.index(aspect.name),
    )


def aspect_words(review: Review, aspect: AspectReview) -> str:
    """Name an aspect, with its rating, and how sure a reader is that chose to speak of it."""
    rating = f", {number_text(aspect.rating, 1)}" if math.isfinite(aspect.rating) else ""
    chosen = aspect.name in review.spoken
    sure = f" ({100 * aspect.confidence:.0f} % of what readers would speak of)" if chosen else ""
    unchecked = "; the model’s own words, unchecked" if aspect.by == "raw" else ""
    return f"{ASPECT_WORDS[aspect.name]}{rating}{sure}{unchecked}"


def _wrap(text: str, indent: int = 2) -> str:
    lead = " " * indent
    text, width = " ".join(text.split()), shutil.get_terminal_size((96, 24)).columns
    width = min(96, max(60, width))
    return textwrap.fill(text, width, initial_indent=lead, subsequent_indent=lead)


def _warnings(review: Review) -> str:
    lines = [f"! {warning}" for warning in review.warnings]
    lines += [f"! {words}" for words in missing_words(review.missing)]
    return "\n".join(map(_wrap, lines))


def _track(percentile: float, interval: tuple[float, float]) -> str:
    """Draw a percentile and its interval on a line from 0 to 100."""
    if not math.isfinite(percentile):
        return ""
    places = ["─"] * 51
    ends = [round(end / 2) for end in interval if math.isfinite(end)]
    if len(ends) == 2:
        places[ends[0] : ends[1] + 1] = "━" * (ends[1] - ends[0] + 1)
    places[round(percentile / 2)] = "●"
    return f"\n  0 {''.join(places)} 100"


def _standing(review: Review) -> str:
    readers = f"{_wrap(preference_words(review))}{_track(review.percentile, review.interval)}"
    if (writers := review.writers) is None:
        return readers
    track = _track(writers.percentile, writers.interval)
    parting = [_wrap(words) for words in parting_words(review)]
    return "\n".join([readers, f"{_wrap(writers_words(writers))}{track}", *parting])


def _criteria(review: Review) -> str:
    rows = [
        f"  {name:<16}{_bar(value)} {number_text(value, 1):>4}"
        for name, value in review.criteria.items()
    ]
    left_out = [_wrap(words) for words in left_out_words(review)]
    return "\n".join(["Criteria, from 1 to 5", *rows, *left_out]) if rows else ""


def _judged(review: Review) -> str:
    if review.judged is None:
        return ""
    from fabula.reports._review_judge import judge_lines

    head, *rows, note = judge_lines(review.judged)
    return "\n".join([head, *rows, *([_wrap(note)] if note else [])])


def _gauges(review: Review) -> str:
    gauges = review.gauges
    lines = [
        f"  {gauge.name:<16}{number_text(gauge.value, 2):>5}   {gauge_words(gauge)}".rstrip()
        for gauge in gauges
    ]
    legend = [_wrap(GAUGE_LEGEND)] if any(gauge.peers for gauge in gauges) else []
    legend = [*map(_wrap, loose_words(review)), *legend]
    head = "Coherence, and closeness to the prompt" if len(gauges) > 2 else "Coherence"
    return "\n".join([head, *lines, *legend]) if lines else ""


def _bar(value: float) -> str:
    if not math.isfinite(value):
        return "·" * _BAR
    filled = round((min(max(value, 1), 5) - 1) / 4 * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def _pictures(review: Review) -> str:
    if review.pictured is None:
        return ""
    # Its tables take their words from here.
    from fabula.reports._picture_words import picture_lines

    return "\n".join(["Pictures", *(_wrap(line) for line in picture_lines(review.pictured))])


def _flow(review: Review) -> str:
    if not review.transitions:
        return ""
    sparks = f"  {_sparkline(review.transitions)}"
    lines = ["From sentence to sentence", sparks, _wrap(flow_words(review))]
    if review.weakest is not None:
        weakest, text = review.transitions[review.weakest], review.story.text
        first, second = text[slice(*weakest.first)], text[slice(*weakest.second)]
        lines.append(_wrap(f"“{_tail(first)}” → “{_head(second)}”", indent=4))
    return "\n".join(lines)


def _sparkline(transitions: tuple[PlacedTransition, ...]) -> str:
    """Draw the curve in a line; of many steps the lowest of each group."""
    size = math.ceil(len(transitions) / _MOST_SPARKS)
    groups = [transitions[at : at + size] for at in range(0, len(transitions), size)]
    lows = [min(transition.probability for transition in group) for group in groups]
    return "".join(_SPARKS[min(int(low * len(_SPARKS)), len(_SPARKS) - 1)] for low in lows)


def _head(text: str, most: int = 12) -> str:
    words = text.split()
    return " ".join(words[:most]) + (" …" if len(words) > most else "")


def _tail(text: str, most: int = 12) -> str:
    words = text.split()
    return ("… " if len(words) > most else "") + " ".join(words[-most:])


def _repetition(review: Review) -> str:
    if not review.repetition:
        return "Repetition\n  No run of four words or more comes again."
    shown = review.repetition[:MOST_REPEATED]
    lines = [_wrap(f"“{_head(run.text)}” {repetition_words(run)}") for run in shown]
    more = len(review.repetition) - len(shown)
    return "\n".join(["Repetition", *lines, *([f"  and {more:,} more"] if more else [])])


def _statistics(review: Review) -> str:
    pairs = [
        f"{statistic_name(name)} {statistic_text(name, value)}"
        for name, value in review.statistics.items()
    ]
    same = _wrap(f"Values are those of: {score_command(review)}")
    return f"Statistics\n{_wrap(' · '.join(pairs))}\n{same}" if review.statistics else ""


def unlike_words(review: Review) -> str:
    """Say why there is no opinion on a text, and what is left."""
    return (
        f"No opinion: {review.unlike}. The metrics learned from whole stories in English prose; of "
        "anything else their scores and any advice would mean nothing, and are left out. What can "
        "be counted is counted."
    )


def left_out_words(review: Review) -> list[str]:
    """Say which criteria have no number, and why: once for all with the same reason."""
    names_by_reason: dict[str, list[str]] = {}
    for lack in review.left_out:
        part, _, name = lack.part.partition(".")
        if part == "criteria":
            names_by_reason.setdefault(lack.why, []).append(name)
    return [f"Not shown: {', '.join(names)} ({why})." for why, names in names_by_reason.items()]


def unrated_words(review: Review) -> str:
    """Say which of the ten aspects have no rating, and why; nothing where all have theirs."""
    unrated = [ASPECT_WORDS[aspect.name] for aspect in review.aspects if aspect.unrated]
    if not unrated:
        return ""
    few = len(unrated) < len(review.aspects)
    names = ", ".join(unrated) if few else "the ten aspects, from opening to idea"
    return (
        f"No opinion on {names}: this reader’s ratings are the same for nearly every story, or "
        "agree with people’s no better than chance."
    )


def repetition_words(run: Repetition) -> str:
    """Say how often something is said, and how much of the text that is."""
    times = count_text(run.count, "time")
    nearly = "" if run.exact else "nearly the same, "
    share = f"{max(100 * run.share, 1):.0f} % of the text" if run.share else ""
    return f"({', '.join(filter(None, [nearly + times, share]))})"


def score_command(review: Review) -> str:
    """Give the command that gives the same values: a metric says where each of them comes from."""
    counted = {name.partition(" ")[0] for name in review.statistics}
    rated = any(math.isfinite(aspect.rating) for aspect in review.aspects)
    specs = [
        re.sub(r"^(storyer|writers)\(interval=True\)$", r"\1", spec)
        for spec in review.signatures
        if spec not in counted and (rated or not spec.startswith("aspects"))
    ]
    options = [f'-m "{spec}"' if "(" in spec else f"-m {spec}" for spec in specs]
    return " ".join(["fabula score FILE", *options, "-m baselines,sentences"])


def flow_words(review: Review) -> str:
    """Say where the story holds together least, if a step stands out."""
    count = len(review.transitions)
    if not count:
        return "There is no step from sentence to sentence to look at."
    if review.weakest is None:
        return (
            f"No step stands out: {len(review.unlikely):,} of {count:,} are as unlikely as 1 "
            "step in 20 of human stories, which jump now and then as well."
        )
    weakest = review.transitions[review.weakest]
    return (
        f"The weakest of {len(review.transitions):,} steps from one sentence to the next is number "
        f"{review.weakest + 1:,}: the second sentence is given {weakest.probability:.0%} to follow "
        "the first."
    ).replace("%", " %")


def missing_words(missing: Sequence[MissingPart]) -> list[str]:
    """Say what cannot be had, and what to do: once for all parts with the same reason."""
    names_by_reason: dict[str, list[str]] = {}
    for part in missing:
        names_by_reason.setdefault(part.why, []).append(part.part)
    return [f"No {', '.join(names)}: {why}" for why, names in names_by_reason.items()]
