"""A language model that is shown two stories and says which is better; strengths come of many."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from fabula.core.card import Batch, Card, Need
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Means
from fabula.core.story import Story, count_text
from fabula.judges.judge_metric import JudgeMetric
from fabula.judges.judge_metric.answers import explain
from fabula.judges.judge_metric.long_stories import measure_question
from fabula.judges.judge_metric.prompting import fence, open_prompt, system_prompt
from fabula.judges.judge_metric.rubric import Criterion
from fabula.meta.ranking.tournament import (
    Game,
    choose_pairs,
    count_wins,
    estimate_first_share,
    fit_strengths,
    list_all_pairs,
)
from fabula.models.asking.question import Question, Respondent, Response

_LETTERS: Mapping[str, int] = {"A": 1, "B": -1, "C": 0}
_ANSWER = re.compile(r"\W*(?:(?:answer|story|better)\W+)*([abc])\W*", re.IGNORECASE)
_TOKENS = 8


@dataclass
class Contest(BatchStatistics):
    """The stories of one item, and what came of comparing them, once that was done."""

    stories: dict[str, Story] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)

    def add(self, story: Story) -> None:
        """Take a story in; two that say the same on the same prompt are one."""
        self.stories.setdefault(name_story(story), story)

    def merge(self, other: Contest) -> None:
        """Take in the stories of another part of the item."""
        self.stories = {**other.stories, **self.stories}


@dataclass(frozen=True)
class JudgePairwise(JudgeMetric, BatchMetric):
    """Strength of a story among those on the same prompt, by a model's choices between two."""

    card = Card(
        title="Judge of pairs: strengths by choices",
        label="Pairwise judge",
        family="judge",
        direction="higher",
        uses=("prompt",),
        batch="run",
        assets=("smollm2",),
        paper="Strengths: Bradley and Terry (1952). Rank analysis of incomplete block designs. "
        "Biometrika 39. Both orders: Wang et al. (2024). Large language models are not fair "
        "evaluators. ACL. Prompts are ours.",
        formula="log-strengths s of maximal likelihood, P(a beats b) = 1 / (1 + exp(s_b - s_a)); a "
        "tie is half a win each; every story has half a win and half a loss against an anchor of "
        "strength 0",
        quirks=(
            "Stories of one item are compared with one another; those without an item all are. A "
            "value says how a story stands among these, and nothing of other items.",
            "Every pair is shown in both orders, as two games. A model that always says A makes "
            "all strengths 0; the note says so where the first of two is chosen beyond chance.",
            "In each of the `rounds` every story meets another: whose comparison says most by what "
            "is known so far. With as many rounds as there are others, all pairs are compared.",
            "The default model is a smoke test, as that of `judge`.",
            "Answers are A, B or C, a tie; all else is `unparsed`, and counts for neither.",
        ),
        cannot_see="How good the stories are: the best of ten bad ones is the strongest. Judges of "
        "pairs like long texts and their own style.",
    )
    prompt: ClassVar[str] = "judge_pairwise"

    rounds: Annotated[int, AtLeast(1), Means("how many others each story meets")] = 4
    ties: Annotated[bool, Means("neither may be better")] = True

    def check(self) -> None:
        """Refuse a rubric that is none, and summaries of long stories: two are shown, or none."""
        super().check()
        assert self.scale.criteria  # read at once, also where no criterion of it is asked for
        if self.long == "parts":
            raise self.setting_error("stories are compared whole", "leave long='parts' out")

    def list_criteria(self) -> tuple[Criterion, ...]:
        """Give the criterion that is compared; none stands for the story as a whole."""
        return (self.scale.get(self.criterion),) if self.criterion else ()

    @property
    def aspects(self) -> tuple[str, ...]:
        """The criterion that is compared, or "" for the story as a whole."""
        return (self.criterion,)

    @property
    def batch(self) -> Batch | None:
        """The other stories of the run on the same item."""
        return "run"

    @property
    def needs(self) -> tuple[Need, ...]:
        """The prompt, where the criterion is about it."""
        return ("prompt",) if any(one.needs_prompt for one in self.list_criteria()) else ()

    def choose_length(self) -> int:
        """Leave room for a letter."""
        return _TOKENS

    def batch_of(self, story: Story) -> str:
        """Name of the item, in which stories meet."""
        return story.item or ""

    def empty_statistics(self) -> Contest:
        """Give a contest of no stories yet."""
        return Contest()

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Take the stories given for the whole of their items."""
        return self._compute_batches(stories, self.gather(stories))

    def compute_in(self, stories: Sequence[Story], statistics: BatchStatistics) -> list[Reading]:
        """Read strengths; the contest is held when the first of its stories is asked for."""
        assert isinstance(statistics, Contest)
        if not statistics.readings:
            statistics.readings = self._hold(statistics)
        return [statistics.readings[name_story(story)] for story in stories]

    def compare(self, pairs: Sequence[tuple[Story, Story]]) -> list[int | None]:
        """Show pairs of stories as they stand: 1 for the first, -1 for the second, 0 for a tie.

        None where the answer could not be read, in the order of the pairs.
        """
        respondent = self.respondent
        assert respondent is not None
        stories = [story for pair in pairs for story in pair]
        places = {f"{at}": (2 * at, 2 * at + 1) for at in range(len(pairs))}
        outcomes = {
            key: read_choice(response, ties=self.ties)
            for key, response in self._ask(respondent, stories, places)
        }
        return [outcomes[key] for key in places]

    def _hold(self, contest: Contest) -> dict[str, Reading]:
        # Chance must not hang on the order in which stories came.
        names = sorted(contest.stories)
        if len(names) < 2:
            note = "there is no other story of its item to compare it with"
            return {name: self.missing(Status.UNDEFINED, note) for name in names}
        respondent = self.respondent
        assert respondent is not None
        listed = [contest.stories[name] for name in names]
        games, problems = self._play(respondent, listed)
        strengths = fit_strengths(count_wins(len(names), games))
        bias = describe_position_bias(games)
        played = Counter(side for game in games for side in (game.first, game.second))
        return {
            name: self._read(float(strengths[place]), played[place], problems[place], bias)
            for place, name in enumerate(names)
        }

    def _read(
        self, strength: float, played: int, problems: Sequence[Response], bias: str
    ) -> Reading:
        notes = [bias] if bias else []
        if problems:
            status, why = explain(problems[0])
            notes.append(f"{count_text(len(problems), 'answer')} of no use: {why}")
            if not played:
                return self.missing(status, "; ".join(notes))
        return Reading((strength,), note="; ".join(notes))

    def _play(
        self, respondent: Respondent, stories: Sequence[Story]
    ) -> tuple[list[Game], list[list[Response]]]:
        """Play round after round; give the games, and by story the answers of no use."""
        count, games = len(stories), list[Game]()
        problems: list[list[Response]] = [[] for _ in stories]
        met = np.zeros((count, count))
        everybody = self.rounds >= count - 1
        for number in range(1 if everybody else self.rounds):
            wins = count_wins(count, games)
            # Pairs whose answers were of no use have met as well.
            wins += np.where(wins + wins.T == 0, met / 2, 0.0)
            pairs = list_all_pairs(count) if everybody else choose_pairs(wins, seed=number)
            for first, second in pairs:
                met[first, second] = met[second, first] = 1
            # Every pair is shown in both orders.
            shown = {f"{a}/{b}": (a, b) for pair in pairs for a, b in (pair, pair[::-1])}
            for key, response in self._ask(respondent, stories, shown):
                pair, outcome = shown[key], read_choice(response, ties=self.ties)
                if outcome is None:
                    for place in pair:
                        problems[place].append(response)
                else:
                    games.append(Game(*pair, outcome))
        # Answers come in any order, and strengths must not hang on it.
        return sorted(games, key=lambda game: (game.first, game.second)), problems

    def _ask(
        self,
        respondent: Respondent,
        stories: Sequence[Story],
        places: Mapping[str, tuple[int, int]],
    ) -> Iterator[tuple[str, Response]]:
        """Show two stories each time, the places of which are given by key."""
        questions = []
        for key, (first, second) in places.items():
            question = self._ask_about(key, stories[first], stories[second])
            window = respondent.window
            if window is not None and measure_question(respondent, question) > window:
                problem = f"two stories do not fit into the model's {window:,} tokens"
                yield key, Response(key, status="failed", problem=problem)
            else:
                questions.append(question)
        for response in respondent.ask(questions):
            yield response.key, response

    def _ask_about(self, key: str, first: Story, second: Story) -> Question:
        file = open_prompt(self.prompt)
        asked = [file.fill("criterion", title=one.name.capitalize(), text=one.text)
                 for one in self.list_criteria()]  # fmt: skip
        prompt = file.fill(
            "user",
            prompts=_show_prompts(first.prompt, second.prompt),
            first=fence(first.text, "story"),
            second=fence(second.text, "story"),
            question=asked[0] if asked else file.fill("overall"),
            answer=file.fill("letter or tie" if self.ties else "letter"),
        )
        letters = tuple(_LETTERS) if self.ties else ("A", "B")
        return Question(key, prompt, system_prompt(), self.wish, choices=letters)


def _show_prompts(first: str | None, second: str | None) -> str:
    """Show the prompt of two stories, or both where they differ."""
    prompts = {"both stories": first} if first == second else {"story A": first, "story B": second}
    return "\n\n".join(
        f"The prompt of {name}:\n\n{fence(prompt, 'prompt')}"
        for name, prompt in prompts.items()
        if prompt and prompt.strip()
    )


def read_choice(response: Response, *, ties: bool = True) -> int | None:
    """Read 1 for the first story, -1 for the second, 0 for a tie; None for all else."""
    if response.status in ("failed", "refused"):
        return None
    match = _ANSWER.fullmatch(response.text.strip())
    outcome = _LETTERS[match[1].upper()] if match else None
    return None if outcome == 0 and not ties else outcome


def describe_position_bias(games: Sequence[Game]) -> str:
    """Say how often the first of two is chosen, if that is not by chance; else ""."""
    decided = [game.outcome for game in games if game.outcome]
    share = estimate_first_share(sum(outcome > 0 for outcome in decided), len(decided))
    if not decided or math.isnan(share.low) or share.low <= 0.5 <= share.high:
        return ""
    side = "first" if share.value > 0.5 else "second"
    value = max(share.value, 1 - share.value)
    return f"position bias: the {side} of two was chosen in {value:.0%} of {len(decided)} answers"


def name_story(story: Story) -> str:
    """Name a story by what it says, on which prompt."""
    raw = "\0".join((story.prompt or "", story.text)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest()
