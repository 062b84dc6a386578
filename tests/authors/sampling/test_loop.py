"""The loop, with a model that says what a script tells it, and fails where it tells it to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fabula.authors.context.ranges import parse_wanted
from fabula.authors.sampling.loop import Loop, Prompt
from fabula.authors.sampling.prefixes import PrefixCache
from fabula.authors.sampling.rules import read_vocabulary
from fabula.core.author import Decoding, Request
from fabula.text.context.segments import prompt_context
from fakes.author_contract import gather
from fakes.tiny_models import save_bytes, torch

END = 1
SPEECH = "The sea rose. “Überall 🌊 Wasser,” said Ida. Old 日本 was far away! Nobody slept."


@dataclass
class ScriptState:
    """A text, and how far it is read."""

    ids: list[int] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        return len(self.ids)

    def copy(self, length: int) -> ScriptState:
        return ScriptState(self.ids[:length])


@dataclass
class ScriptedDecoder:
    """After `shown` tokens that begin with a number it says the script of that number."""

    scripts: dict[int, list[int]]
    shown: int
    size: int
    fails_at: dict[int, int] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)
    read: int = 0

    def open_state(self) -> ScriptState:
        return ScriptState()

    def advance(self, states: Sequence[ScriptState], news: Sequence[Sequence[int]]) -> Any:
        logits = torch().full((len(states), self.size), -20.0)
        for row, (state, new) in enumerate(zip(states, news, strict=True)):
            ids = [*state.ids, *new]
            script, at = self.scripts[ids[0]], len(ids) - self.shown
            if self.fails_at.get(ids[0]) == at:
                raise RuntimeError("the cable was\npulled")
            logits[row, script[at] if 0 <= at < len(script) else END] = 20.0
        for state, new in zip(states, news, strict=True):
            state.ids.extend(new)
        self.batches.append(len(states))
        self.read += sum(map(len, news))
        return logits


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokeniser of bytes, for which a character may be several tokens."""
    torch()
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("bytes")
    save_bytes(folder)
    return AutoTokenizer.from_pretrained(folder)


def make_loop(tokenizer: Any, *texts: str, **other: Any) -> Loop:
    """A loop that says the first text to requests of seed 10, the second to those of 11, …"""
    scripts = {10 + at: tokenizer(text)["input_ids"] for at, text in enumerate(texts)}
    decoder = ScriptedDecoder(scripts, 3, len(tokenizer), **other)
    return Loop(
        decoder,
        tokenizer,
        read_vocabulary(tokenizer, [END]),
        1000,
        PrefixCache(10**6),
        lambda request: Prompt((request.seed, 20, 21), (), is_begun=not request.context.text),
    )


def ask(seed: int = 10, wanted: str = "words=-100", *, text: str = "So", **other: Any) -> Request:
    context = prompt_context("A flood.", text, story=f"story {seed}")
    decoding = Decoding(max_sentences=0, temperature=0.0, penalty=1.0)
    request = Request(f"r{seed}", context, parse_wanted(wanted), decoding, seed=seed)
    return replace(request, **other)


def test_pieces_make_the_text_and_never_break_a_character(tokenizer):
    written = gather(make_loop(tokenizer, SPEECH).write([ask()]))["r10"]
    assert written.text == SPEECH
    assert len(written.pieces) > 40
    assert not any("\ufffd" in piece.text or piece.replaces for piece in written.pieces)
    assert written.pieces[-1].tokens == len(tokenizer(SPEECH)["input_ids"])


def test_a_text_ends_with_its_sentences_and_no_fragment(tokenizer):
    limited = replace(ask(), decoding=Decoding(max_sentences=2, temperature=0.0, penalty=1.0))
    text = gather(make_loop(tokenizer, SPEECH).write([limited]))["r10"].text
    assert text == "The sea rose. “Überall 🌊 Wasser,” said Ida."
    short = gather(make_loop(tokenizer, SPEECH).write([ask(wanted="words=-7")]))["r10"]
    assert (short.text, short.pieces[-1].replaces) == ("The sea rose.", True)


def test_nothing_is_written_where_nothing_is_wanted(tokenizer):
    loop = make_loop(tokenizer, SPEECH)
    written = gather(loop.write([ask(wanted="words=0-0", text="So it began")]))["r10"]
    assert (written.text, written.status, loop.decoder.read) == ("", "done", 0)


def test_blanks_at_the_beginning_go_where_a_text_begins(tokenizer):
    loop = make_loop(tokenizer, " \n Rain fell.")
    assert gather(loop.write([ask(text="")]))["r10"].text == "Rain fell."
    loop = make_loop(tokenizer, " Rain fell.")
    assert gather(loop.write([ask(text="So")]))["r10"].text == " Rain fell."


def test_texts_that_end_leave_the_batch(tokenizer):
    loop = make_loop(tokenizer, "a.", "a dog.", "the old sailor saw a light.")
    written = gather(loop.write([ask(10), ask(11), ask(12)]))
    assert [one.text for one in written.values()] == ["a.", "a dog.", "the old sailor saw a light."]
    steps = loop.decoder.batches[3:]
    assert steps == sorted(steps, reverse=True)
    assert (steps[0], steps[-1]) == (3, 1)


def test_one_that_fails_does_not_take_the_others_along(tokenizer, caplog):
    loop = make_loop(tokenizer, SPEECH, SPEECH, SPEECH, fails_at={11: 5, 12: 0})
    written = gather(loop.write([ask(10), ask(11), ask(12)]))
    assert [one.status for one in written.values()] == ["done", "failed", "failed"]
    assert written["r10"].text == SPEECH
    problem = written["r11"].pieces[-1].problem
    assert problem.startswith("the model failed (RuntimeError: the cable was pulled); ask again")
    assert written["r11"].pieces[-1].tokens == 5
    assert "Traceback" not in problem and "Traceback" in caplog.text


def test_settings_that_will_not_do_fail_their_request_alone(tokenizer):
    loop = make_loop(tokenizer, SPEECH, SPEECH)
    written = gather(loop.write([ask(10, decoding=Decoding(top_p=2.0)), ask(11)]))
    assert [one.status for one in written.values()] == ["failed", "done"]
    assert "top_p" in written["r10"].pieces[-1].problem


def test_cancelling_stops_between_tokens_and_the_others_go_on(tokenizer):
    asked = 0

    def is_cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 6

    loop = make_loop(tokenizer, SPEECH, SPEECH)
    written = gather(loop.write([ask(10, is_cancelled=is_cancelled), ask(11)]))
    assert [one.status for one in written.values()] == ["cancelled", "done"]
    # Asked before it was begun, before it was read, and before each of four more tokens.
    assert written["r10"].pieces[-1].tokens == 5
    assert SPEECH.startswith(written["r10"].text)
    assert "story 10" in loop.prefixes


def test_a_long_context_is_read_in_parts_and_left_when_cancelled(tokenizer):
    loop = make_loop(tokenizer, SPEECH)
    loop.make_prompt = lambda request: Prompt((10, *[20] * 599), (), is_begun=False)
    answers = iter([False, False, True])
    written = gather(loop.write([ask(is_cancelled=lambda: next(answers))]))["r10"]
    assert (written.status, loop.decoder.read) == ("cancelled", 256)
    # What was read is kept: the next request reads only the rest.
    loop.read("story 10", [10, *[20] * 599])
    assert loop.decoder.read == 600


def test_only_what_is_new_is_read(tokenizer):
    loop = make_loop(tokenizer, SPEECH)
    gather(loop.write([ask()]))
    count = len(tokenizer(SPEECH)["input_ids"])
    assert loop.decoder.read == 3 + count
    gather(loop.write([ask()]))
    assert loop.decoder.read == 3 + count + 1 + count


def test_a_text_ends_where_the_model_can_read_no_more(tokenizer):
    loop = make_loop(tokenizer, SPEECH)
    loop.places = 13
    written = gather(loop.write([ask()]))["r10"]
    assert (written.status, written.pieces[-1].tokens) == ("done", 10)
