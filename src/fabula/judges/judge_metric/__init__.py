"""What judges share: a language model that is asked about stories, and what its answers mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from fabula.core.card import Need
from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.protocols import watch
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Means
from fabula.core.story import Story
from fabula.judges.judge_metric.answers import explain
from fabula.judges.judge_metric.long_stories import (
    PartedStory,
    ShownStory,
    measure_question,
    part_story,
)
from fabula.judges.judge_metric.prompting import LONG, sign_prompts
from fabula.judges.judge_metric.rubric import Criterion, KnownRubric, Rubric, open_rubric
from fabula.models.asking.opening import open_respondent, respondent_spec
from fabula.models.asking.question import Question, Respondent, Response
from fabula.models.servers.wire import Wish

SMOKE_TEST = "embedded('smollm2')"
_SMOKE_NOTE = "a smoke test: this model is too small to judge"


@dataclass(frozen=True)
class Verdict:
    """What was read on one aspect: a value, or why there is none."""

    value: float = math.nan
    status: Status = Status.OK
    note: str = ""


@dataclass(frozen=True)
class JudgeMetric(Metric):
    """A metric that asks a language model: say which questions, and read the answers to them.

    Where the model cannot be had, every story says so. All questions about some stories are asked
    together, so that a server answers as many at once as it may.
    """

    # File of `_prompts` that it asks with.
    prompt: ClassVar[str] = ""

    model: str = SMOKE_TEST
    rubric: Annotated[str, Means("one of ours, or a TOML file")] = "hanna"
    criterion: Annotated[str, Means("of the rubric; all where none is named")] = ""
    long: Annotated[
        Literal["refuse", "parts"], Means("parts: all but the end of a long story is summarised")
    ] = "refuse"
    temperature: Annotated[float, AtLeast(0)] = 0.0
    max_tokens: Annotated[int, AtLeast(1)] | None = None
    seed: Annotated[int, AtLeast(0)] = 0

    def check(self) -> None:
        """Spell the model in full; refuse a model or a rubric that is not spelled right."""
        object.__setattr__(self, "model", respondent_spec(self.model))
        self.list_criteria()

    def list_questions(self, shown: ShownStory) -> Iterator[Question]:
        """Ask what is to be known about one story; keys tell the questions apart."""
        raise NotImplementedError

    def read_responses(self, responses: Mapping[str, Response]) -> Mapping[str, Verdict]:
        """Read the verdict on every criterion that was asked, of the responses by their keys."""
        raise NotImplementedError

    def choose_length(self) -> int:
        """Give how many tokens an answer has at most, unless a setting says so."""
        raise NotImplementedError

    @cached_property
    def _known_rubric(self) -> KnownRubric:
        """The rubric as it was when the judge was made."""
        return open_rubric(self.rubric)

    @property
    def scale(self) -> Rubric:
        """The rubric itself."""
        return self._known_rubric.rubric

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value that there is: those of the rubric, as a rule."""
        return float(self.scale.low), float(self.scale.high)

    def list_criteria(self) -> tuple[Criterion, ...]:
        """Give the criteria that are judged."""
        return (self.scale.get(self.criterion),) if self.criterion else self.scale.criteria

    @property
    def aspects(self) -> tuple[str, ...]:
        """Names of the criteria."""
        return tuple(criterion.name for criterion in self.list_criteria())

    @property
    def needs(self) -> tuple[Need, ...]:
        """The prompt, where nothing is judged but how a story fits it."""
        needed = all(criterion.needs_prompt for criterion in self.list_criteria())
        return ("prompt",) if needed else ()

    @property
    def at_once(self) -> int:
        """Many: a server answers them side by side."""
        return 64

    @property
    def wish(self) -> Wish:
        """How answers are drawn."""
        tokens = self.max_tokens or self.choose_length()
        return Wish(tokens, self.temperature, 1.0, seed=self.seed)

    def traits(self) -> dict[str, str]:
        """Give all that answers depend on: model, words of the prompts and the rubric, decoding."""
        model = self.respondent.signature if self.respondent else "missing"
        return {"model": model, **self.list_wording()}

    def list_wording(self) -> dict[str, str]:
        """Give what it asks with, and how answers are drawn; no model is opened."""
        prompts = (self.prompt, LONG) if self.long == "parts" else (self.prompt,)
        wish = self.wish
        return {
            "prompt": sign_prompts(*prompts),
            "rubric": self._known_rubric.signature,
            "decoding": f"temperature={wish.temperature:g},max_tokens={wish.max_tokens}"
            f",seed={wish.seed}",
        }

    @property
    def absence(self) -> str:
        """Why the model cannot be had, if it cannot."""
        return self._attempt if isinstance(self._attempt, str) else ""

    @property
    def respondent(self) -> Respondent | None:
        """The model that is asked; None where it cannot be had."""
        return None if isinstance(self._attempt, str) else self._attempt

    @cached_property
    def _attempt(self) -> Respondent | str:
        """Give the model, or why it cannot be had."""
        try:
            return open_respondent(self.model)
        except (SettingError, UnknownName):
            raise
        except UserError as error:
            return str(error)

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask everything about all stories; of long ones first for summaries, where wanted."""
        respondent = self.respondent
        assert respondent is not None
        shown = self._show_all(respondent, stories)
        questions = [
            Question(f"{place}|{q.key}", q.prompt, q.system, q.wish, q.choices, q.schema)
            for place, view in enumerate(shown)
            if isinstance(view, ShownStory)
            for q in self.list_questions(view)
        ]
        answered: list[dict[str, Response]] = [{} for _ in stories]
        for count, response in enumerate(respondent.ask(questions), 1):
            watch.get().tell_detail(f"{count:,} of {len(questions):,} answers")
            place, _, key = response.key.partition("|")
            answered[int(place)][key] = response
        return [
            view if isinstance(view, Reading) else self._join(view, responses)
            for view, responses in zip(shown, answered, strict=True)
        ]

    def _look_at(self, respondent: Respondent, story: Story) -> ShownStory | PartedStory | Reading:
        """Show a story as it is, in parts, or say that it is too long."""
        shown = ShownStory(story, story.text)
        window = respondent.window
        longest = max(self.list_questions(shown), key=lambda question: len(question.prompt))
        if window is None or (tokens := measure_question(respondent, longest)) <= window:
            return shown
        if self.long == "parts":
            key = longest.key
            parted = part_story(
                respondent,
                story,
                window,
                lambda view: next(q for q in self.list_questions(view) if q.key == key),
            )
            if parted is not None:
                return parted
        note = f"{tokens:,} tokens with question and answer: the model reads {window:,}"
        remedy = "" if self.long == "parts" else "; long='parts' summarises"
        return self.missing(Status.TOO_LONG, note + remedy)

    def _show_all(
        self, respondent: Respondent, stories: Sequence[Story]
    ) -> list[ShownStory | Reading]:
        """Show every story, asking for summaries of long ones first."""
        views = [self._look_at(respondent, story) for story in stories]
        parted = {str(at): view for at, view in enumerate(views) if isinstance(view, PartedStory)}
        summaries: dict[str, Response] = {}
        if parted:
            questions = [
                question
                for key, view in parted.items()
                for question in view.ask_summaries(
                    key, temperature=self.temperature, seed=self.seed
                )
            ]
            summaries = {response.key: response for response in respondent.ask(questions)}
        return [
            self._show_parted(view, str(at), summaries) if isinstance(view, PartedStory) else view
            for at, view in enumerate(views)
        ]

    def _show_parted(
        self, view: PartedStory, key: str, summaries: Mapping[str, Response]
    ) -> ShownStory | Reading:
        told = [summaries[f"{key}/{number}"] for number in range(1, len(view.parts))]
        for response in told:
            if response.status not in ("answered", "cut") or not response.text.strip():
                status, note = explain(response)
                return self.missing(status, f"no summary of a part: {note}")
        return view.show([response.text.strip() for response in told])

    def _join(self, shown: ShownStory, responses: Mapping[str, Response]) -> Reading:
        """Make a reading of the verdicts on all criteria, those without a prompt to fit left out.

        One that failed may be had tomorrow: the whole is not kept then.
        """
        verdicts = dict(self.read_responses(responses))
        for criterion in self.list_criteria():
            if criterion.needs_prompt and not (shown.story.prompt or "").strip():
                note = "give the story a prompt"
                verdicts[criterion.name] = Verdict(status=Status.MISSING_PROMPT, note=note)
        ordered = [verdicts[name] for name in self.aspects]
        statuses = tuple(verdict.status for verdict in ordered)
        status = Status.FAILED if Status.FAILED in statuses else Status.OK
        if len(set(statuses)) == 1:
            status, statuses = statuses[0], ()
        values = tuple(verdict.value for verdict in ordered)
        read = any(map(math.isfinite, values))
        coverage = shown.coverage if read else 0.0
        return Reading(values, status, coverage, self._write_note(shown, ordered), statuses)

    def _write_note(self, shown: ShownStory, verdicts: Sequence[Verdict]) -> str:
        by_note: dict[str, list[str]] = {}
        for name, verdict in zip(self.aspects, verdicts, strict=True):
            if verdict.note:
                by_note.setdefault(verdict.note, []).append(name)
        notes = [
            note if len(names) == len(verdicts) else f"{', '.join(names)}: {note}"
            for note, names in by_note.items()
        ]
        if shown.summary:
            share = f"{shown.coverage:.0%}"
            notes.append(f"the last {share} were read word for word, the rest as a summary")
        if self.model == SMOKE_TEST:
            notes.append(_SMOKE_NOTE)
        return "; ".join(notes)
