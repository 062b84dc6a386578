"""Models in this process: probabilities of choices come of their own logits.

A causal model keeps what it has read of the last question: where the next begins alike, as those on
several criteria of one story do, only the rest is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabula.core.model import Generator
from fabula.models._runtime import package
from fabula.models.asking.choices import Guess, choose_spot, find_spots
from fabula.models.asking.interview import Feed
from fabula.models.asking.question import Question, Response
from fabula.models.asking.spending import Prices
from fabula.models.networks.causal import CausalModel, SamplingSettings, cut_at, seed_of
from fabula.models.networks.decoder import Decoder, State, open_decoder
from fabula.models.reading.tokens import find_beginning, tokenise

if TYPE_CHECKING:
    from torch import Tensor

# Places of models without a bound of their own.
_UNBOUND_PLACES = 8192
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class _Step:
    """A token that was drawn, and the logs of the choices there."""

    token: int
    logs: Sequence[tuple[str, float]]


@dataclass(eq=False)
class CausalBackend:
    """A causal model of the hub, a folder or the store, one question after the other."""

    model: CausalModel
    place: str = ""
    prices: Prices = field(default_factory=lambda: Prices(0.0, 0.0))
    _state: Any = field(default=None, repr=False)
    # Signs that end an answer, by the checkpoint and by its tokeniser.
    _ends: set[int | None] = field(default_factory=set, repr=False)

    @property
    def signature(self) -> str:
        """The checkpoint; whether it is asked as an assistant hangs on its tokeniser alone."""
        return f"{self.model.checkpoint.identity},asked"

    @property
    def window(self) -> int:
        """As many tokens as the checkpoint has places for."""
        return self.model.checkpoint.limit or _UNBOUND_PLACES

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(tokenise(self.model.checkpoint.tokenizer, [text])[0].ids)

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Answer one after the other."""
        while (question := feed.take()) is not None:
            response = self._answer(question)
            feed.keep(response)
            yield response

    def _answer(self, question: Question) -> Response:
        wish, tokenizer = question.wish, self.model.checkpoint.tokenizer
        draw = SamplingSettings(wish.max_tokens, wish.temperature, wish.top_p, wish.seed)
        ids = self._encode(question)
        if len(ids) + wish.max_tokens > self.window:
            problem = f"too long for the model ({len(ids)} tokens of {self.window})"
            return Response(question.key, status="failed", problem=problem)
        steps: list[_Step] = []
        text, is_ended = "", False
        guesses = []
        for step in self._write(ids, question, draw):
            if step.token in self._ends:
                is_ended = True
                break
            steps.append(step)
            # By all tokens so far: some stand for a part of a letter, or for a blank before it.
            longer = tokenizer.decode([each.token for each in steps], skip_special_tokens=True)
            guesses.append(Guess(len(text), longer[len(text) :], step.logs))
            text = longer
            if any(sign in text for sign in wish.stop if sign):
                text, is_ended = cut_at(text, wish.stop), True
                break
        spots = find_spots(text, guesses, question.choices)
        return Response(
            question.key,
            text,
            "answered" if is_ended else "cut",
            probabilities=choose_spot(text, spots),
            tokens_in=len(ids),
            tokens_out=len(steps),
            cost=0.0,
            model=self.model.checkpoint.name,
            spots=spots,
        )

    def _encode(self, question: Question) -> list[int]:
        """Spell a question as the model was trained to be asked, or as a plain text."""
        tokenizer = self.model.checkpoint.tokenizer
        told = f"{question.system}\n\n" if question.system else ""
        if not tokenizer.chat_template:
            plain = tokenise(tokenizer, [f"{told}{question.prompt}\n"])[0].ids
            return [*find_beginning(tokenizer), *plain]
        user = {"role": "user", "content": question.prompt}
        turns = [{"role": "system", "content": question.system}, user] if told else [user]
        try:
            asked = _fill_template(tokenizer, turns)
        except package("jinja2").TemplateError:
            # Some were trained without a system, and their templates refuse one.
            asked = _fill_template(tokenizer, [{**user, "content": told + question.prompt}])
        return list(tokenise(tokenizer, [asked])[0].ids)

    def _write(self, ids: list[int], question: Question, draw: SamplingSettings) -> Iterator[_Step]:
        """Draw token after token, and tell the logs of choices at each."""
        torch = package("torch")
        generator = torch.Generator().manual_seed(seed_of(question.prompt, draw.seed))
        choices = self._find_choices(question.choices)
        state, new = self._resume(ids)
        for _ in range(draw.max_tokens):
            logits = self._decoder.advance([state], [new])[0].cpu()  # (words,)
            logs = logits.log_softmax(-1)
            token = _draw(logits, draw, generator)
            yield _Step(token, [(choice, float(logs[at])) for choice, at in choices])
            new = [token]

    def _resume(self, ids: list[int]) -> tuple[State, list[int]]:
        """Go on from the last question as far as this one begins alike."""
        shared = 0
        if self._state is not None:
            read = self._state.ids[: len(ids) - 1]
            pairs = enumerate(zip(read, ids, strict=False))
            shared = next((at for at, (one, two) in pairs if one != two), len(read))
        self._state = self._state.copy(shared) if shared else self._decoder.open_state()
        return self._state, ids[shared:]

    def _find_choices(self, choices: Sequence[str]) -> list[tuple[str, int]]:
        """Tokens that spell a choice whole, with a blank before it or without."""
        tokenizer = self.model.checkpoint.tokenizer
        spelled = [(choice, blank + choice) for choice in choices for blank in ("", " ", "\n")]
        found: dict[int, str] = {}
        for (choice, _), text in zip(
            spelled, tokenise(tokenizer, [variant for _, variant in spelled]), strict=True
        ):
            last = text.ids[-1] if text.ids else None
            if last is not None and tokenizer.decode([last]).strip() == choice:
                found[last] = choice
        return [(choice, at) for at, choice in found.items()]

    @cached_property
    def _decoder(self) -> Decoder[Any]:
        checkpoint = self.model.checkpoint
        net = checkpoint.model(self.model.head)
        ends = net.generation_config.eos_token_id
        self._ends.update([*(ends if isinstance(ends, list) else [ends])])
        self._ends.add(checkpoint.tokenizer.eos_token_id)
        return open_decoder(checkpoint, self.window, net=net)


def _fill_template(tokenizer: Any, turns: list[dict[str, str]]) -> str:
    return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))


def _draw(logits: Tensor, draw: SamplingSettings, generator: Any) -> int:
    """Take the likeliest token, or draw from the nucleus of them."""
    if draw.temperature == 0:
        return int(logits.argmax())
    torch = package("torch")
    shares, order = (logits / draw.temperature).softmax(-1).sort(descending=True)
    # The token that reaches the share belongs to the nucleus.
    shares[shares.cumsum(-1) - shares >= draw.top_p] = 0.0
    return int(order[torch.multinomial(shares, 1, generator=generator)])


@dataclass(eq=False)
class GeneratorBackend:
    """Any other model that writes on from a prompt; it tells no probabilities."""

    model: Generator
    place: str = ""
    window: int | None = None
    prices: Prices = field(default_factory=lambda: Prices(0.0, 0.0))

    @property
    def signature(self) -> str:
        """That of the model."""
        return f"{self.model.signature},asked"

    def count_tokens(self, text: str) -> int:
        """Estimate how many tokens a text has."""
        return -(-len(text) // _CHARS_PER_TOKEN)

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Answer one after the other."""
        while (question := feed.take()) is not None:
            wish = question.wish
            told = f"{question.system}\n\n" if question.system else ""
            (text,) = self.model.generate(
                [told + question.prompt],
                max_tokens=wish.max_tokens,
                temperature=wish.temperature,
                top_p=wish.top_p,
                stop=wish.stop,
                seed=wish.seed,
            )
            response = Response(question.key, text, cost=0.0, model=self.model.signature)
            feed.keep(response)
            yield response
