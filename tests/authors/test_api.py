"""The co-author on a server, beside a fake one of either style."""

from __future__ import annotations

import random
import threading
import time

import pytest

from fabula.authors import author_spec, load_author
from fabula.core.author import Context, Decoding, Segment
from fabula.core.errors import SettingError
from fabula.models.api import load as load_model
from fakes.api_server import Shop, Streaming, anthropic_events, openai_events
from fakes.author_contract import BEFORE, CHECKS, PROMPT, gather, make_request, write

EVENTS = {"openai": openai_events, "anthropic": anthropic_events}


class StoryShop(Shop):
    """Writes words that depend on the question alone, until it has written what was asked."""

    def __init__(self, style):
        super().__init__()
        self.style = style
        self.answers = []

    def give(self, handler, answer):
        if isinstance(answer, dict) and answer.get("id") == "1":
            answer = self.write(self.heard[-1])
        super().give(handler, answer)

    def write(self, question):
        draw = random.Random(str({key: question[key] for key in question if key != "stream"}))
        words = [draw.choice(["owl", "sea", "lamp", "ran."]) for _ in range(question["max_tokens"])]
        pieces = [word.title() if place == 0 else f" {word}" for place, word in enumerate(words)]
        self.answers.append(Streaming(EVENTS[self.style](pieces), pause_s=0.0002))
        return self.answers[-1]


@pytest.fixture(params=["openai", "anthropic"])
def shop(request, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-0123")
    found = StoryShop(request.param)
    yield found
    found.close()


def open_author(shop, **settings):
    given = "".join(f", {name}={value!r}" for name, value in settings.items())
    return load_author(f"api('tiny', base_url={shop.url!r}, style={shop.style!r}{given})")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(shop, check):
    author = open_author(shop)
    author.startup()
    check(author)
    author.shutdown()


def test_the_prompt_holds_the_context_and_asks_to_go_on(shop):
    write(open_author(shop), make_request(decoding=Decoding(max_sentences=3)))
    question = shop.heard[0]
    system = question["system"] if shop.style == "anthropic" else question["messages"][0]["content"]
    assert "in the same voice" in system
    assert "at most 3 sentences" in system
    assert "no preamble" in system
    prompt = question["messages"][-1]["content"]
    assert prompt.startswith(PROMPT)
    assert prompt.endswith(BEFORE)
    # Thirty words, at two tokens each, and no more than three sentences of sixty.
    assert question["max_tokens"] == 60


def test_decoding_is_passed_as_far_as_the_server_knows_it(shop):
    decoding = Decoding(temperature=0.5, top_p=0.7, top_k=20, penalty=1.1)
    write(open_author(shop), make_request(decoding=decoding, seed=9))
    question = shop.heard[0]
    if shop.style == "openai":
        assert (question["temperature"], question["top_p"], question["seed"]) == (0.5, 0.7, 9)
        assert not {"top_k", "repetition_penalty"} & question.keys()
        write(
            open_author(shop, options="top_k, repetition_penalty"), make_request(decoding=decoding)
        )
        question = shop.heard[-1]
        assert (question["top_k"], question["repetition_penalty"]) == (20, 1.1)
    else:
        assert (question["temperature"], question["top_k"]) == (0.5, 20)
        assert not {"top_p", "seed"} & question.keys()


def test_what_is_enough_closes_the_stream(shop):
    author = open_author(shop, thinking=8_000)
    text = write(author, make_request(wanted="words=-5"))["r"].text
    assert text
    assert shop.answers[0].was_cut.wait(5)


def test_cancelling_closes_the_stream_and_does_not_wait(shop):
    cancelled = threading.Event()
    request = make_request(wanted="words=0-", is_cancelled=cancelled.is_set)
    silent = Streaming(EVENTS[shop.style](["Word", " word"])[:4] + [": ping\n"] * 400, pause_s=0.05)
    shop.plan = [silent]
    threading.Timer(0.3, cancelled.set).start()
    began = time.monotonic()
    one = write(open_author(shop), request)["r"]
    assert (one.status, time.monotonic() - began < 5) == ("cancelled", True)
    assert silent.was_cut.wait(5)


def test_who_leaves_closes_all_streams(shop):
    author = open_author(shop, thinking=8_000)
    pieces = author.generate([make_request(f"r{n}", "words=-2000") for n in range(3)])
    next(pieces)
    pieces.close()
    assert shop.answers
    assert all(answer.was_cut.wait(5) for answer in shop.answers)


def test_no_more_are_asked_side_by_side_than_allowed(shop):
    author = open_author(shop, max_concurrent=2)
    now, most, lock = 0, 0, threading.Lock()

    def slow(handler):
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        time.sleep(0.03)
        with lock:
            now -= 1
        Streaming(EVENTS[shop.style](["Ok."]))(handler)

    shop.plan = [slow] * 6
    assert {one.text for one in write(author, *[make_request(f"r{n}") for n in range(6)]).values()}
    assert most == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, {"error": {"message": "wrong"}}), "says 401: wrong; set "),
        ((429, {}, {"error": {"message": "slow down"}}), "says 429: slow down; try again later"),
        ("refusal", "the model declined to go on with this text"),
        ("length", "the model thought and wrote nothing; give it more: thinking=4000"),
        ("drop", "breaks off; ask again"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_takes_nobody_along(shop, answer, words):
    refusals = {"openai": "content_filter", "anthropic": "refusal"}
    lengths = {"openai": "length", "anthropic": "max_tokens"}
    if answer in ("refusal", "length"):
        endings = refusals if answer == "refusal" else lengths
        answer = Streaming(EVENTS[shop.style]([], endings[shop.style]))
    elif answer == "drop":
        answer = Streaming(EVENTS[shop.style](["One", " two"])[:-4])
    author = open_author(shop, retries=0, max_concurrent=1)
    shop.plan = [answer]
    written = write(author, make_request("bad"), make_request("good"))
    assert (written["bad"].status, written["good"].status) == ("failed", "done")
    assert words in written["bad"].pieces[-1].problem
    assert "\n" not in written["bad"].pieces[-1].problem


@pytest.mark.parametrize(
    ("before", "piece", "text"),
    [
        ("Ida", "ran.", " ran."),
        ("Ida", ", who ran.", ", who ran."),
        ("Ida", "\n\nNight fell.", "\n\nNight fell."),
        ("Ida ", " ran.", "ran."),
        ("", "\nIda ran.", "Ida ran."),
    ],
)
def test_an_answer_is_joined_to_the_text(shop, before, piece, text):
    shop.plan = [Streaming(EVENTS[shop.style]([piece]))]
    assert write(open_author(shop), make_request(text=before))["r"].text == text


def test_what_does_not_fit_is_cut_and_told_in_estimated_tokens(shop):
    long = Segment("prompt", "word " * 4000, minimum=50)
    request = make_request(context=Context("s", (long,), BEFORE))
    prompt, entry = write(open_author(shop, budget=400), request)["r"].seen
    # Four characters a token: 20,000 characters, and the 33 of the text in nine.
    assert (prompt.available, entry.tokens, entry.available) == (5000, 9, 9)
    assert 300 < prompt.tokens < 400
    assert len(prompt.text) == 4 * prompt.tokens


def test_the_servers_count_of_tokens_is_told(shop):
    shop.plan = [Streaming(EVENTS[shop.style](["One.", " Two."]))]
    assert write(open_author(shop), make_request())["r"].pieces[-1].tokens == 200


def test_the_signature_names_the_prompt_and_not_the_server(shop):
    signature = open_author(shop).signature
    assert signature == f"api,{shop.style},tiny,prompt=1,budget=4000"
    assert load_model("tiny", base_url=shop.url).signature != signature


def test_a_server_that_is_not_there_and_a_key_that_is_missing_are_said_at_startup(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SettingError, match=r"no server listens at 127\.0\.0\.1:9"):
        load_author("api('tiny', base_url='http://127.0.0.1:9')").startup()
    with pytest.raises(SettingError, match="wants a key; set OPENAI_API_KEY"):
        load_author("api('tiny', base_url='https://api.example.org/v1')").startup()


def test_settings_are_checked():
    with pytest.raises(SettingError, match="no option is called 'top_kk'"):
        load_author("api('tiny', base_url='http://127.0.0.1:9', options='top_kk')")
    spec = "api('tiny', base_url='http://127.0.0.1:9')"
    assert author_spec(spec) == spec


def test_pieces_come_while_the_server_writes(shop):
    release = threading.Event()
    events = EVENTS[shop.style](["One two", " three."])
    held = iter([*events[:4], None, *events[4:]])
    shop.plan = [Streaming(each if each else (release.wait(10), ":\n")[1] for each in held)]
    pieces = open_author(shop).generate([make_request()])
    first = next(pieces)
    assert (first.text.strip()[:3], first.status) == ("One", "")
    release.set()
    assert gather([first, *pieces])["r"].text == " One two three."
