"""Models behind a server that speaks OpenAI's or Anthropic's protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPMessage
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, TypeVar

from fabula.core.errors import SettingError
from fabula.core.model import Span, TokenLogs
from fabula.core.settings import AtLeast, check_settings
from fabula.models.servers.http import Server, ServerError, check_address
from fabula.models.servers.stream import TextStream
from fabula.models.servers.wire import (
    WIRES,
    Style,
    Tokens,
    Wire,
    Wish,
    find_refused,
    leave_out,
)

T = TypeVar("T")

Count = Annotated[int, AtLeast(0)]
Price = Annotated[float, AtLeast(0)] | None
Seconds = Annotated[float, AtLeast(0.001)]
AtOnce = Annotated[int, AtLeast(1)]
PerMinute = Annotated[float, AtLeast(0.001)] | None
_USUAL_AT_ONCE = 4
_LOGS_REMEDY = "take a server that does (completions with echo and logprobs), or huggingface(…)"


@dataclass(frozen=True)
class Exchange:
    """One question, the raw answer to it, and its cost where prices are known."""

    path: str
    question: dict[str, Any]
    answer: dict[str, Any]
    tokens_in: int
    tokens_out: int
    cost: float | None


@dataclass(frozen=True)
class _Settings:
    model: str
    base_url: str
    style: Style
    key_env: str | None
    timeout_s: Seconds
    retries: Count
    max_concurrent: AtOnce | None
    price_in: Price
    price_out: Price
    log: str | None
    window: Annotated[int, AtLeast(16)] | None
    requests_per_minute: PerMinute
    tokens_per_minute: PerMinute
    batch: bool


def load(
    model: str,
    *,
    base_url: str,
    style: Style = "openai",
    key_env: str | None = None,
    timeout_s: Seconds = 60.0,
    retries: Count = 4,
    max_concurrent: AtOnce | None = None,
    price_in: Price = None,
    price_out: Price = None,
    log: str | None = None,
    window: Annotated[int, AtLeast(16)] | None = None,
    requests_per_minute: PerMinute = None,
    tokens_per_minute: PerMinute = None,
    batch: bool = False,
) -> ApiModel:
    """Take a model of a server; `base_url` ends where `/chat/completions` or `/messages` begins.

    The key is read from the environment: OPENAI_API_KEY or, by style, ANTHROPIC_API_KEY, unless
    another variable is named. Prices are those of a million tokens. `log` is a file to which every
    question and answer is added, a line of JSON each. `window`, the limits a minute and `batch`,
    which sends questions to the server's batch endpoint, are for those who ask many (`asking`).
    """
    settings = _Settings(**locals())
    check_settings(settings, "api")
    wire = WIRES[style]
    return ApiModel(
        model,
        _server(settings, wire),
        wire,
        max_concurrent,
        (price_in, price_out),
        Path(log) if log else None,
        window=window,
        limits=(requests_per_minute, tokens_per_minute),
        is_batched=batch,
    )


def _server(settings: _Settings, wire: Wire) -> Server:
    key_env = settings.key_env or wire.key_env
    server = Server(
        check_address(settings.base_url, "api"),
        _key(key_env),
        key_env,
        settings.timeout_s,
        settings.retries,
        key_header=wire.key_header,
        headers=wire.headers,
        kind=wire.kind,
    )
    if not server.is_local:
        server.need_reach()
    return server


def _key(key_env: str) -> str:
    key = os.environ.get(key_env, "").strip()
    if not key.isascii() or (key and not key.isprintable()):
        raise SettingError(f"api: {key_env} holds signs that no key has", "set it again")
    return key


@dataclass(frozen=True, eq=False)
class ApiModel:
    """Generator, and likelihood where the server tells the logs of a prompt's tokens.

    An option that the server refuses (newer models take no temperature) is left out from then on;
    `refused` names it, and `exchanges` hold every question as it was asked.
    """

    model: str
    server: Server
    wire: Wire
    max_concurrent: int | None
    prices: tuple[float | None, float | None]
    log: Path | None
    window: int | None = None
    limits: tuple[float | None, float | None] = (None, None)  # requests and tokens a minute
    is_batched: bool = False
    exchanges: list[Exchange] = field(default_factory=list, repr=False)
    refused: set[str] = field(default_factory=set)
    _lock: Any = field(default_factory=Lock, repr=False, compare=False)

    @property
    def signature(self) -> str:
        """Backend, name and server; which weights answer is for the server to know."""
        return f"api,{self.model}@{self.server.url}"

    @property
    def cost(self) -> float | None:
        """What all answers cost together; None where a price is not known."""
        costs = [exchange.cost for exchange in self.exchanges]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) and None not in self.prices else None

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int = 128,
        temperature: float = 0.8,
        top_p: float = 0.95,
        stop: Sequence[str] = (),
        seed: int = 0,
        system: str = "",
    ) -> list[str]:
        """Give the answer to each prompt, several asked at once."""
        wish = Wish(max_tokens, temperature, top_p, stop=stop, seed=seed)
        questions = [
            self.wire.make_question(self.model, prompt, system, wish) for prompt in prompts
        ]
        with ThreadPoolExecutor(self.max_concurrent or _USUAL_AT_ONCE) as pool:
            tasks = [pool.submit(self._answer, question) for question in questions]
            try:
                return [task.result() for task in tasks]
            except BaseException:
                # What has not been asked yet would cost money for nothing.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def stream(self, prompt: str, wish: Wish, *, system: str = "") -> TextStream:
        """Give the answer to a prompt piece by piece; nothing is asked before the first."""
        question = self.wire.make_question(self.model, prompt, system, wish)
        return TextStream(
            self.server,
            self.wire,
            lambda send: self._ask_as_taken(question, send),
            self._record_stream,
        )

    def try_once(
        self, question: dict[str, Any], on_headers: Callable[[HTTPMessage], None] | None = None
    ) -> dict[str, Any]:
        """Ask one time; what may pass is `TryAgain`. The answer is logged and not kept here."""

        def send(taken: dict[str, Any]) -> dict[str, Any]:
            answer = self.server.ask_once(self.wire.path, taken, on_headers)
            spent = self.wire.read_tokens(answer)
            self._record(self.wire.path, taken, answer, spent, is_kept=False)
            return answer

        return self._ask_as_taken(question, send)

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        """Give the logs of every second text given the first, by an echo of both."""
        return (self._logs_of(context, text) for context, text in pairs)

    def _ask_as_taken(self, question: dict[str, Any], send: Callable[[dict[str, Any]], T]) -> T:
        """Ask, and ask again without an option that the server says it does not take."""
        while True:
            taken = leave_out(question, self.refused)
            try:
                return send(taken)
            except ServerError as error:
                name = find_refused(taken, error.problem) if error.status in (400, 422) else ""
                if not name:
                    raise
                self.refused.add(name)

    def _answer(self, question: dict[str, Any]) -> str:
        path = self.wire.path
        answer = self._ask_as_taken(question, lambda taken: self._ask(path, taken))
        try:
            return self.wire.read_answer(answer).text
        except (KeyError, IndexError, TypeError):
            raise ServerError(
                f"{self.model}: the answer holds no text", f"is it {self.wire.kind}?"
            ) from None

    def _ask(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        answer = self.server.ask(path, question)
        self._record(path, question, answer, self.wire.read_tokens(answer))
        return answer

    def _record_stream(self, stream: TextStream) -> None:
        """Record what came of a stream, also of one that broke or was closed."""
        answer = {"streamed": stream.text, "ending": stream.ending, "usage": stream.tokens}
        self._record(self.wire.path, stream.question, answer, stream.tokens)

    def _cost_of(self, spent: Tokens) -> float | None:
        """Cost of tokens read and written; a server that does not count leaves it unknown."""
        total = 0.0
        for count, price in zip(spent, self.prices, strict=True):
            if price is None or count is None:
                return None
            total += count * price / 1e6
        return total

    def _record(
        self,
        path: str,
        question: dict[str, Any],
        answer: dict[str, Any],
        spent: Tokens,
        *,
        is_kept: bool = True,
    ) -> None:
        read, written = spent
        exchange = Exchange(path, question, answer, read or 0, written or 0, self._cost_of(spent))
        with self._lock:
            if is_kept:
                self.exchanges.append(exchange)
            if self.log is not None:
                line = json.dumps({"model": self.model, **vars(exchange)})
                _add_line(self.log, self.server.without_key(line))

    def _logs_of(self, context: str, text: str) -> TokenLogs:
        import numpy as np

        if not text:
            return TokenLogs((), (), np.zeros(0))
        if self.wire is not WIRES["openai"]:
            raise ServerError(f"{self.model}: {self.wire.kind} tells no logs", _LOGS_REMEDY)
        question = {"model": self.model, "prompt": context + text, "max_tokens": 0}
        answer = self._ask("completions", {**question, "echo": True, "logprobs": 1})
        tokens, starts, logs = self._echo(answer)
        whole = len(context) + len(text)
        stops = [*starts[1:], starts[-1] + len(tokens[-1])]
        entries = [
            (token, _span(start, stop, len(context), whole), np.nan if log is None else log)
            for token, start, stop, log in zip(tokens, starts, stops, logs, strict=True)
            if stop > len(context) and start < whole
        ]
        read = max((stop for _, (_, stop), _ in entries), default=0)
        return TokenLogs(
            tuple(token for token, _, _ in entries),
            tuple(span for _, span, _ in entries),
            np.array([log for _, _, log in entries], dtype=float),
            coverage=read / len(text),
        )

    def _echo(self, answer: dict[str, Any]) -> tuple[list[str], list[int], list[float | None]]:
        """Tokens, where they start and their logs; servers that do not give them are refused."""
        try:
            echoed = answer["choices"][0]["logprobs"]
            tokens, logs = list(echoed["tokens"]), list(echoed["token_logprobs"])
            starts = list(echoed["text_offset"])
            if not tokens or not len(tokens) == len(logs) == len(starts):
                raise ValueError
        except (KeyError, IndexError, TypeError, ValueError):
            raise ServerError(
                f"{self.model}: the server tells no logs of a prompt's tokens", _LOGS_REMEDY
            ) from None
        return tokens, starts, logs


def _span(start: int, stop: int, before: int, whole: int) -> Span:
    """Place of a token in the text alone, of one that begins in the context its end."""
    return max(start - before, 0), min(stop, whole) - before


def _add_line(file: Path, line: str) -> None:
    """Add one line in one write, so that two processes do not mix theirs."""
    try:
        target = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(target, f"{line}\n".encode())
        finally:
            os.close(target)
    except OSError as error:
        raise SettingError(
            f"api: cannot write to {file} ({error.strerror})", "name another log"
        ) from error
