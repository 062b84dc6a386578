"""Models on servers, asked question by question: structured output, log-probabilities, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabula.models.api import ApiModel
from fabula.models.asking.choices import choose_spot, find_spots, read_guesses
from fabula.models.asking.dispatch import Dispatcher
from fabula.models.asking.interview import Feed
from fabula.models.asking.pacing import Pace
from fabula.models.asking.question import Question, Response, Status
from fabula.models.asking.spending import Prices
from fabula.models.servers.http import ServerError, TryAgain
from fabula.models.servers.limits import Headers, read_room
from fabula.models.servers.wire import Ending

# English has some four characters a token, and other scripts about as many bytes.
_BYTES_PER_TOKEN = 4
_STATUSES: Mapping[Ending, Status] = {"refusal": "refused", "length": "cut"}
# Words by which servers say that they filter a question, or that it is too long for them.
_FILTERED = ("content_filter", "content management policy", "content policy")
_TOO_LONG = ("context_length", "context length", "prompt is too long", "context window")
# Threads where nobody says how many; with a limit, enough for answers that take so long.
_USUAL_AT_ONCE = 8
_MOST_AT_ONCE = 64
_SLOW_ANSWER_S = 10.0


@dataclass(eq=False)
class ServedBackend:
    """A model of a server; many questions are asked side by side, within its limits."""

    model: ApiModel
    pace: Pace

    @property
    def signature(self) -> str:
        """Style and model; where the server stands is nobody's business."""
        return f"api,{self.model.wire.style},{self.model.model}"

    @property
    def place(self) -> str:
        """The server, whose model of that name is not another's."""
        return self.model.server.url

    @property
    def window(self) -> int | None:
        """What the spec says."""
        return self.model.window

    @property
    def prices(self) -> Prices:
        """What the spec says."""
        return Prices(*self.model.prices)

    def count_tokens(self, text: str) -> int:
        """Estimate how many tokens a text has."""
        return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Ask side by side."""
        dispatcher = Dispatcher(
            lambda question: read_response(self.model, question, self._ask(question)),
            lambda question: feed.count_tokens(question) + question.wish.max_tokens,
            self.pace,
            self._count_threads(),
            self.model.server.retries,
            self.model.server.first_wait_s,
            feed.lose_try,
        )
        return dispatcher.run(feed)

    def _ask(self, question: Question) -> dict[str, Any] | Response:
        try:
            return self.model.try_once(spell_question(self.model, question), self._note_room)
        except ServerError as error:
            return read_refusal(question, error)

    def _note_room(self, headers: Headers) -> None:
        for room in read_room(headers):
            self.pace.note_room(room)

    def _count_threads(self) -> int:
        if self.model.max_concurrent is not None:
            return self.model.max_concurrent
        if self.pace.requests_per_minute is None:
            return _USUAL_AT_ONCE
        wanted = round(self.pace.requests_per_minute / 60 * _SLOW_ANSWER_S)
        return max(min(wanted, _MOST_AT_ONCE), 1)


def spell_question(model: ApiModel, question: Question) -> dict[str, Any]:
    """Spell a question as the server's protocol has it."""
    wire = model.wire
    asked = wire.make_question(model.model, question.prompt, question.system, question.wish)
    if question.choices:
        asked |= wire.make_logs_wish()
    if question.schema is not None:
        asked |= wire.make_schema_wish(question.schema)
    return asked


def read_response(
    model: ApiModel, question: Question, answer: dict[str, Any] | Response
) -> Response:
    """Read what a server answered; another shape than its protocol's may be mended by a try."""
    if isinstance(answer, Response):
        return answer
    wire = model.wire
    try:
        delta = wire.read_answer(answer)
        text = delta.text or wire.read_refusal(answer)
        guesses = read_guesses(wire.read_logs(answer))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise TryAgain(f"the answer is not one of {wire.kind}") from None
    text = model.server.without_key(text)
    spots = find_spots(text, guesses, question.choices)
    tokens_in, tokens_out = delta.tokens
    return Response(
        question.key,
        text,
        _STATUSES.get(delta.ending, "answered"),
        probabilities=choose_spot(text, spots),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=Prices(*model.prices).cost(tokens_in, tokens_out),
        model=str(answer.get("model") or ""),
        spots=spots,
    )


def read_refusal(question: Question, error: ServerError) -> Response:
    """Read an error that is about this question alone; others are raised."""
    said = error.problem.casefold()
    if any(words in said for words in _FILTERED):
        return Response(
            question.key, status="refused", problem=error.problem, tokens_in=0, tokens_out=0
        )
    if any(words in said for words in _TOO_LONG):
        problem = f"too long for the model ({error.problem})"
        return Response(question.key, status="failed", problem=problem)
    raise error
