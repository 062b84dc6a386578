"""What will do as an answer, and what a whole set of answers is.

`{question: {story: value}}` for what is asked of every story, `{question: value}` for what
compares them; stories are called by their identities. Values: `scale` a whole number, `choice` and
`text` words, `best` a story or `tie`, `best_worst` `{"best": story, "worst": story}`, `ranking` all
stories, best first, `spans` `[{"start", "stop", "label", "reason"}]` with places in the text (in
characters, as Python counts them), `aspects` `{choice: {"rating", "reason"}}`.

Checks have names of their own: `_character` is asked of every story, `_instructed` once a task: a
number is sent, and kept as `{"asked": number, "given": number}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.core.errors import InputError, closest
from fabula.studio.campaigns.balance import Instructed
from fabula.studio.campaigns.definition import TIE, Definition, Question

# Answers to questions that only check: no opinion of a story.
CHARACTER, INSTRUCTED = "_character", "_instructed"
MOST_CHARACTERS = 20_000
_MOST_SPANS = 500


class BadAnswer(InputError):
    """An answer that is none of those there are; names the question."""

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        super().__init__(f"{name}: {problem}", remedy)


def check_answers(
    definition: Definition,
    texts: Mapping[str, str],
    given: Mapping[str, Any],
    *,
    instructed: Instructed | None = None,
    is_whole: bool = True,
) -> dict[str, Any]:
    """Give the answers as they are kept, or refuse them, naming the question.

    `texts` are those of the stories shown, by identity. With `is_whole` every question that has to
    be answered is answered; while a rater is at it, some may be missing or half done.
    """
    questions = {question.name: question for question in definition.questions}
    known = {*questions, *([CHARACTER] if definition.checks.character else [])}
    known |= {INSTRUCTED} if instructed else set()
    answers: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise BadAnswer(name, "there is no such question", closest(name, known))
        if name == INSTRUCTED:
            answers[name] = _check_instructed(value, instructed)
        elif name in questions and questions[name].compares:
            if not _is_nothing(value):
                answers[name] = _check_comparison(questions[name], value, texts, is_whole)
        else:
            answers[name] = _check_stories(questions.get(name), name, value, texts, is_whole)
    if is_whole:
        _need_all(definition, texts, answers, instructed)
    return {name: value for name, value in answers.items() if value not in ({}, None)}


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def _check_instructed(value: Any, instructed: Instructed | None) -> Any:
    value = value.get("given") if isinstance(value, Mapping) else value
    if value is None or instructed is None:
        return None
    number = _check_number(INSTRUCTED, value, instructed.low, instructed.high)
    return {"asked": instructed.value, "given": number}


def _check_stories(
    question: Question | None, name: str, value: Any, texts: Mapping[str, str], is_whole: bool
) -> dict[str, Any]:
    """Check the answers about each story; `question` is None for the name of a character."""
    if not isinstance(value, Mapping):
        raise BadAnswer(name, "an answer for each story is wanted", "send {story: answer}")
    answers = {}
    for story, answer in value.items():
        if story not in texts:
            raise BadAnswer(name, f"story {story!r:.40} is not in this task", "load the page again")
        if _is_nothing(answer):
            continue
        if question is None:
            answers[story] = _check_words(name, answer, 200)
        else:
            answers[story] = _check_value(question, answer, texts[story], is_whole)
    return {story: answer for story, answer in answers.items() if not _is_nothing(answer)}


def _check_value(question: Question, value: Any, text: str, is_whole: bool) -> Any:
    name = question.name
    if question.kind == "scale":
        return _check_number(name, value, question.low, question.high)
    if question.kind == "choice":
        return _check_choice(name, value, question.choices)
    if question.kind == "spans":
        return _check_spans(question, value, text, is_whole)
    if question.kind == "aspects":
        return _check_aspects(question, value, is_whole)
    words = _check_words(name, value)
    if is_whole and words.strip() and len(words.split()) < question.least:
        raise BadAnswer(name, f"{len(words.split())} words", f"write {question.least} or more")
    return words


def _check_number(name: str, value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise BadAnswer(name, f"{value!r:.40} will not do", f"a whole number, {low} to {high}")
    return value


def _check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise BadAnswer(name, f"{value!r:.40} is no choice", f"one of {', '.join(choices)}")
    return value


def _check_words(name: str, value: Any, most: int = MOST_CHARACTERS) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise BadAnswer(name, "this is no text of a usual length", f"at most {most:,} characters")
    return value


def _check_spans(question: Question, value: Any, text: str, is_whole: bool) -> list[dict[str, Any]]:
    name = question.name
    if not isinstance(value, list) or len(value) > (question.most or _MOST_SPANS):
        raise BadAnswer(
            name, "a list of passages is wanted", f"{question.most or _MOST_SPANS} of them"
        )
    spans = []
    for span in value:
        if not isinstance(span, Mapping) or not span.keys() <= {"start", "stop", "label", "reason"}:
            raise BadAnswer(name, "a passage has start, stop, label and reason", "send these")
        start = _check_number(name, span.get("start"), 0, max(0, len(text) - 1))
        stop = _check_number(name, span.get("stop"), start + 1, max(start + 1, len(text)))
        kept: dict[str, Any] = {"start": start, "stop": stop, "label": "", "reason": ""}
        if question.choices and (is_whole or span.get("label")):
            kept["label"] = _check_choice(name, span.get("label"), question.choices)
        kept["reason"] = _check_words(name, span.get("reason", ""))
        if is_whole and question.reason and not kept["reason"].strip():
            raise BadAnswer(name, "a passage has no reason", "say why, or take it out")
        spans.append(kept)
    if is_whole and len(spans) < question.least:
        raise BadAnswer(name, f"{len(spans)} passages", f"mark {question.least} or more")
    return sorted(spans, key=lambda span: (span["start"], span["stop"]))


def _check_aspects(question: Question, value: Any, is_whole: bool) -> dict[str, Any]:
    name = question.name
    if not isinstance(value, Mapping):
        raise BadAnswer(name, "chosen aspects are wanted", "send {aspect: {rating, reason}}")
    chosen: dict[str, Any] = {}
    for aspect, answer in value.items():
        _check_choice(name, aspect, question.choices)
        if not isinstance(answer, Mapping) or not answer.keys() <= {"rating", "reason"}:
            raise BadAnswer(name, f"{aspect} has a rating and a reason", "send these")
        kept: dict[str, Any] = {"rating": None, "reason": ""}
        if is_whole or answer.get("rating") is not None:
            rating = answer.get("rating")
            kept["rating"] = _check_number(name, rating, question.low, question.high)
        kept["reason"] = _check_words(name, answer.get("reason", ""))
        if is_whole and question.reason and not kept["reason"].strip():
            raise BadAnswer(name, f"{aspect} has no reason", "say why")
        chosen[aspect] = kept
    least, most = question.least or 1, question.most or len(question.choices)
    if len(chosen) > most or (is_whole and len(chosen) < least):
        raise BadAnswer(name, f"{len(chosen)} are chosen", f"choose {least} to {most}")
    return chosen


def _check_comparison(
    question: Question, value: Any, texts: Mapping[str, str], is_whole: bool
) -> Any:
    name, stories = question.name, tuple(texts)
    if question.kind == "best":
        if question.ties and value == TIE:
            return TIE
        return _check_choice(name, value, stories)
    if question.kind == "best_worst":
        if not isinstance(value, Mapping) or not value.keys() <= {"best", "worst"}:
            raise BadAnswer(name, "the best and the worst are wanted", 'send {"best", "worst"}')
        ends = {end: _check_choice(name, value[end], stories) for end in value if value[end]}
        if len(set(ends.values())) < len(ends):
            raise BadAnswer(name, "one story is both best and worst", "choose two")
        if is_whole and len(ends) < 2:
            raise BadAnswer(name, "the best or the worst is missing", "choose both")
        return ends
    is_list = isinstance(value, list) and len({*map(str, value)}) == len(value)
    if not is_list or (is_whole and len(value) != len(stories)):
        raise BadAnswer(name, "a ranking holds every story once", "best first")
    return [_check_choice(name, story, stories) for story in value]


def _need_all(
    definition: Definition,
    texts: Mapping[str, str],
    answers: Mapping[str, Any],
    instructed: Instructed | None,
) -> None:
    """Refuse what leaves a question open that has to be answered."""
    required = [question for question in definition.questions if question.required]
    for question in required:
        value = answers.get(question.name, {})
        if question.compares and _is_nothing(value):
            raise BadAnswer(question.name, "this is not answered yet", "answer it")
        # Nothing to mark is an answer, unless so many are asked for.
        if not question.compares and (question.kind != "spans" or question.least):
            _need_stories(question.name, question.title or question.text, value, texts)
    if definition.checks.character:
        _need_stories(CHARACTER, "the character's name", answers.get(CHARACTER, {}), texts)
    if instructed and answers.get(INSTRUCTED) is None:
        raise BadAnswer(INSTRUCTED, "this is not answered yet", "answer it")


def _need_stories(
    name: str, title: str, value: Mapping[str, Any], texts: Mapping[str, str]
) -> None:
    for place, story in enumerate(texts, 1):
        answer = value.get(story)
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            which = f" of story {place}" if len(texts) > 1 else ""
            raise BadAnswer(name, f"{title[:60]}{which} is not answered yet", "answer it")
