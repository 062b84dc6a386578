"""What is odd about submitted work: flags with their evidence, which reject nobody.

Checks of single tasks are here: the named character, planted and repeated stories, instructed
answers, time. What tells a rater from the others (`outliers.py`) is tested so that in a campaign of
honest raters one flag or more is rare, however many raters there are. All of it is arithmetic on
`Work`: nothing is stored, and a flag is found again as long as what it rests on is there.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.fuzz import ratio

from fabula.core.story import count_text
from fabula.studio.campaigns.answer_rules import CHARACTER, INSTRUCTED
from fabula.studio.campaigns.definition import Definition, Question
from fabula.studio.campaigns.outliers import find_outliers
from fabula.studio.campaigns.work import Work, WorkAssignment
from fabula.text.names import find_names
from fabula.text.words import span_words, words

# Two spellings of a name; "Jon" and "John" are 86.
_SAME_NAME = 80
# Words that say that nobody has a name.
_NOBODY = frozenset("none nobody noone no one name names character characters na nil n a".split())
# Words that are in every story.
_LITTLE = frozenset(
    "a an the of and in on at to i he she it his her my from with named called is".split()
)
# A name that comes so often, and does one of these things, is somebody's.
_OFTEN = 3
_DOES = (
    "said says asked asks replied whispered shouted cried laughed smiled sighed nodded thought "
    "knew felt looked turned walked ran stood sat took told wanted"
).replace(" ", "|")
# A repeated story is answered differently from so large a share of the scale on. Of two answers at
# random one is .4 away from the other on five points; people repeat themselves to about half that.
_FAR, _FAR_OF_FEW, _ENOUGH_ANSWERS = 0.4, 0.75, 4
_ENOUGH_GAPS = 5
# Han, kana, Thai, Lao, Burmese and Khmer.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
# Least seconds and number of words, by assignment.
Floors = Mapping[str, tuple[float, int]]


@dataclass(frozen=True)
class Flag:
    """Something odd: by which check, about which rater, in which assignment if it is one's own.

    Rater and assignment are identities; `evidence` says what was seen, in words and numbers.
    """

    check: str
    rater: str
    assignment: str | None
    evidence: str


def find_flags(work: Work) -> list[Flag]:
    """Find all that is odd about what was submitted, in the order of the raters' numbers.

    What was rejected is looked at too, but the others are not held against it.
    """
    flags: list[Flag] = []
    for done in work.by_rater.values():
        floors = find_floors(work, done)
        flags += _check_tasks(work, done, floors)
        flags += _check_duplicates(work, done)
        flags += _check_gaps(work, done, floors)
    flags += [Flag(*outlier) for outlier in find_outliers(work)]
    return sorted(flags, key=lambda flag: work.raters[flag.rater].number)


def _check_tasks(work: Work, done: Sequence[WorkAssignment], floors: Floors) -> Iterator[Flag]:
    for one in done:
        found = [
            ("character", _check_character(work, one)),
            ("instructed", _check_instructed(one)),
            ("planted", _check_planted(work, one)),
            ("too_fast", _check_time(work.gaps_s[one.id], *floors[one.id])),
        ]
        for check, evidence in found:
            if evidence:
                yield Flag(check, one.rater, one.id, evidence)


def _check_character(work: Work, one: WorkAssignment) -> str:
    """Ask whether the name given for a story's first character is in the story."""
    given = one.answers.get(CHARACTER)
    named = given if isinstance(given, Mapping) else dict.fromkeys(one.shown[:1], given)
    for place, name in named.items():
        if place in work.stories and isinstance(name, str):
            story = work.stories[place].story
            if problem := judge_name(name, story.text):
                return f"{problem} in story {story.id}"
    return ""


def judge_name(name: str, text: str) -> str:
    """Say what is wrong with the name of a story's character; "" if nothing is.

    Any word of the answer may be anywhere in the story, spelled nearly so: people write "the old
    king", and take the second name for the first. That nobody is named is believed unless a name
    comes three times or more and says or does something.
    """
    given = words(name)
    if not given or set(given) <= _NOBODY:
        acting = _find_acting(text)
        return f"no character is named, and {acting} acts" if acting else ""
    if len(name.strip()) > 2 and name.strip().casefold() in text.casefold():
        return ""
    known = {part for word in words(text) for part in (word, word.partition("'")[0])}
    telling = [word.partition("'")[0] for word in given if word not in _LITTLE] or given
    if any(word in known for word in telling):
        return ""
    near = any(ratio(word, other) >= _SAME_NAME for word in telling for other in known)
    return "" if near else f"{name.strip()!r} is not"


def _find_acting(text: str) -> str:
    """Give a name that surely is somebody's; "" where there is none. English alone is told."""
    for name in find_names(text):
        often = len(re.findall(rf"\b{re.escape(name)}\b", text)) >= _OFTEN
        if often and re.search(rf"\b{re.escape(name)} (?:{_DOES})\b", text):
            return name
    return ""


def _check_instructed(one: WorkAssignment) -> str:
    """Ask whether the answer that the page asked for was given."""
    given = one.answers.get(INSTRUCTED)
    if not isinstance(given, Mapping) or "asked" not in given:
        return ""
    asked, said = given["asked"], given.get("given")
    return "" if asked == said else f"asked to answer {asked}, answered {said}"


def _check_planted(work: Work, one: WorkAssignment) -> str:
    """Ask whether a story that is poor on purpose was rated above the middle, or found best."""
    planted = [story for story in one.shown if work.stories[story].is_planted]
    for story in planted:
        values = [
            (value - question.low) / (question.high - question.low)
            for question in work.definition.questions
            if question.kind == "scale"
            and isinstance(value := one.answer(question, story), int | float)
        ]
        if values and statistics.fmean(values) > 0.5:
            share = f"{statistics.fmean(values):.0%} of the way from the lowest to the highest"
            return f"the planted poor story was rated {share} answer"
        for question in work.definition.questions:
            if question.compares and _find_best(one.answer(question, "")) == story:
                return f"the planted poor story was found best ({question.name})"
    return ""


def _find_best(answer: Any) -> Any:
    if isinstance(answer, Mapping):
        return answer.get("best")
    return answer[0] if isinstance(answer, list) and answer else answer


def find_floors(work: Work, done: Sequence[WorkAssignment]) -> Floors:
    """Give the least time that each task of a rater takes, in seconds, and its words.

    All texts shown count but for those that the rater has seen before: prompts and references come
    again from system to system, and nobody reads them twice.
    """
    checks = work.definition.checks
    seen: set[str] = set()
    floors: dict[str, tuple[float, int]] = {}
    for one in done:
        texts = [text for place in one.shown for text in _list_texts(work, place)]
        count = sum(_count_words(text) for text in dict.fromkeys(texts) if text not in seen)
        seen.update(texts)
        least = 60 * count / checks.words_per_minute if checks.words_per_minute > 0 else 0.0
        floors[one.id] = max(least, checks.floor_s if count >= checks.floor_words else 0.0), count
    return floors


def _count_words(text: str) -> int:
    """Count words; where they are written without blanks, a letter is about half of one."""
    blank_free = sum(map(len, _UNSPACED.findall(text)))
    return len(span_words(_UNSPACED.sub(" ", text) if blank_free else text)) + blank_free // 2


def _list_texts(work: Work, place: str) -> list[str]:
    """Texts that stand on the page for a story."""
    shown, story = work.definition.show, work.stories[place].story
    extra = work.stories[place].extra
    fields = [*shown.fields, *(["input"] if shown.input else [])]
    return [
        story.text,
        *([story.prompt] if shown.prompt and story.prompt else []),
        *(story.references if shown.reference else ()),
        *(str(extra[name]) for name in fields if extra.get(name)),
    ]


def _check_time(gap_s: float, floor_s: float, count: int) -> str:
    if gap_s >= floor_s:
        return ""
    return f"{gap_s:.0f} s for {count_text(count, 'word')}; at least {floor_s:.0f} s are needed"


def _check_gaps(work: Work, done: Sequence[WorkAssignment], floors: Floors) -> Iterator[Flag]:
    """Ask whether most submits follow one another faster than anybody reads."""
    gaps = [work.gaps_s[one.id] for one in done[1:]]
    short = sum(work.gaps_s[one.id] < floors[one.id][0] for one in done[1:])
    if len(gaps) >= _ENOUGH_GAPS and short > len(gaps) / 2:
        yield Flag(
            "gaps",
            done[0].rater,
            None,
            f"{short} of {len(gaps)} gaps between submits are shorter than reading takes; "
            f"the middle one is {statistics.median(gaps):.0f} s",
        )


def _check_duplicates(work: Work, done: Sequence[WorkAssignment]) -> Iterator[Flag]:
    """Ask whether a rater answers alike when asked the same again, over all repeated tasks."""
    by_task = {one.task: one for one in done}
    distances: list[float] = []
    worst: tuple[float, str] = (-1.0, "")
    for one in done:
        original = by_task.get(work.tasks[one.task].original or "")
        if original is None:
            continue
        apart = list(_compare_answers(work.definition, original, one))
        if apart:
            distances += apart
            worst = max(worst, (statistics.fmean(apart), one.id))
    bar = _FAR if len(distances) >= _ENOUGH_ANSWERS else _FAR_OF_FEW
    if distances and (mean := statistics.fmean(distances)) >= bar:
        yield Flag(
            "duplicate",
            done[0].rater,
            worst[1],
            f"the same stories again were answered {mean:.0%} of the scale away on average "
            f"({count_text(len(distances), 'answer')}); chance gives 40 %",
        )


def _compare_answers(
    definition: Definition, first: WorkAssignment, second: WorkAssignment
) -> Iterator[float]:
    """Give how far two answers are apart, from 0 to 1, question by question."""
    for question in definition.questions:
        places = [""] if question.compares else [one for one in first.shown if one in second.shown]
        for place in places:
            one, other = first.answer(question, place), second.answer(question, place)
            if one is None or other is None:
                continue
            if (apart := _measure_distance(question, one, other)) is not None:
                yield apart


def _measure_distance(question: Question, one: Any, other: Any) -> float | None:
    if question.kind == "scale":
        return float(abs(one - other)) / (question.high - question.low)
    if question.kind in ("choice", "best"):
        return float(one != other)
    if question.kind == "ranking":
        pairs = [(a, b) for i, a in enumerate(one) for b in one[i + 1 :]]
        place = {story: at for at, story in enumerate(other)}
        turned = sum(place.get(a, 0) > place.get(b, 0) for a, b in pairs)
        return turned / len(pairs) if pairs else None
    if question.kind == "best_worst":
        return statistics.fmean(one.get(end) != other.get(end) for end in ("best", "worst"))
    return None
