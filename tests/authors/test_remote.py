"""The client of STORIUM's model protocol: over real HTTP, and against servers that misbehave."""

from __future__ import annotations

import json
import threading

import pytest

from fabula.authors import load_author
from fabula.authors.context.ranges import count_units
from fabula.core.author import Context, Decoding
from fabula.core.errors import SettingError, UserError
from fabula.text.context.segments import storium_context
from fakes.api_server import Shop
from fakes.author_contract import BEFORE, CHECKS, PROMPT, make_request, write
from fakes.figment_server import serve
from fakes.storium_games import SMALL


@pytest.fixture(scope="module")
def served():
    with serve(load_author("lorem")) as found:
        yield found


@pytest.fixture
def shop():
    """A server whose plan says how figments are answered; snapshots are taken."""
    found = FigmentShop()
    yield found
    found.close()


class FigmentShop(Shop):
    def __init__(self):
        super().__init__()
        self.snapshots, self.figments = [], []
        self.url = self.url.removesuffix("/v1")

    def give(self, handler, answer):
        heard = {key: value for key, value in self.heard[-1].items() if key != "path"}
        if self.heard[-1]["path"].endswith("/snapshot"):
            answer = self.snapshots.pop(0) if self.snapshots else (200, {}, {})
        elif self.figments:
            answer = self.figments.pop(0)
        else:
            answer = (206, {}, heard | {"description": heard["description"] + " word one two."})
        super().give(handler, answer)

    def paths(self):
        return [heard["path"] for heard in self.heard]


def open_author(server, **settings):
    given = "".join(f", {name}={value!r}" for name, value in settings.items())
    return load_author(f"remote({server.url!r}{given})")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_it_keeps_the_contract(served, check):
    author = open_author(served)
    author.startup()
    check(author)
    author.shutdown()


def test_over_http_it_writes_as_the_co_author_does_here(served):
    # One chunk, the seed that all texts of a server have, and a name that needs no digest.
    for number, wanted in enumerate(("words=-40", "chars=-100", "tokens=-30", "sentences=-2")):
        context = storium_context(SMALL, SMALL["scenes"][0]["entries"][1], story=f"s{number}")
        request = make_request(wanted=wanted, seed=0, decoding=Decoding(), context=context)
        here = write(load_author("lorem"), request)["r"]
        there = write(open_author(served), request)["r"]
        assert here.text
        assert (there.text, there.status) == (here.text, "done")


def test_a_long_text_comes_in_chunks_and_ends_with_its_range(served):
    one = write(open_author(served, chunk=20), make_request(wanted="words=-90", text=""))["r"]
    assert sum(bool(piece.text) for piece in one.pieces) >= 4
    assert 40 <= count_units(one.text, "words") <= 90


def test_the_story_is_sent_once_and_again_when_it_has_changed(shop):
    author = open_author(shop)
    request = make_request(wanted="words=-3")
    author.preprocess(request.context)
    write(author, request)
    write(author, request)
    assert sum(path == "/story/snapshot" for path in shop.paths()) == 1
    snapshot = shop.heard[0]
    assert snapshot["story"]["scenes"][0]["entries"][0]["description"] == PROMPT
    other = make_request(wanted="words=-3")
    context = storium_context(SMALL, {"description": BEFORE}, story=other.context.story)
    author.preprocess(context)
    assert shop.heard[-1]["story"] == SMALL
    assert shop.heard[-1]["story_id"] == snapshot["story_id"]


def test_figments_are_asked_for_by_range(shop):
    write(open_author(shop, chunk=4), make_request("a b", wanted="words=-6", text="One two"))
    path = shop.paths()[1]
    assert path.startswith("/figment/")
    assert path.endswith("/new?suggestion_type=scene_entry")
    assert " " not in path
    # Six words after two: four first, then, of the eight, those from the seventh on (the full stop
    # is a word, too).
    assert [headers.get("Range") for headers in shop.headers[1:]] == ["words=-4", "words=6-7"]
    assert shop.heard[1]["description"] == "One two"
    assert shop.heard[2]["description"] == "One two word one two."


def test_a_game_and_its_entry_are_sent_as_they_are(shop):
    entry = SMALL["scenes"][0]["entries"][1]
    context = storium_context(SMALL, entry, story="s1")
    write(open_author(shop), make_request(wanted="words=-3", context=context))
    assert shop.heard[0]["story"] == SMALL
    sent = {key: value for key, value in shop.heard[1].items() if key != "path"}
    assert sent == entry


def test_a_game_is_sent_before_anybody_writes_in_it(shop):
    open_author(shop).preprocess(Context("g1", (), game=SMALL))
    [heard] = shop.heard
    assert (heard["story_id"], heard["story"]) == ("g1", SMALL)


def test_a_story_that_the_server_has_lost_is_sent_again(shop):
    shop.figments = [(404, {}, {"detail": "not cached"})]
    one = write(open_author(shop), make_request(wanted="words=-3"))["r"]
    assert one.status == "done"
    kinds = [path.split("/")[1] for path in shop.paths()]
    assert kinds[:4] == ["story", "figment", "story", "figment"]


def entry_of(text):
    return {"description": text}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([(404, {}, {"detail": "not cached"})] * 2, "says 404: not cached"),
        ([(416, {}, {})], "does not take the range words=8-37"),
        ([(406, {}, {"message": "no luck"})], "says 406: no luck"),
        ([(500, {}, b"oops")], "says 500: oops"),
        ([(206, {}, entry_of(BEFORE))] * 4, "the model wrote nothing"),
        ([(200, {}, entry_of(BEFORE))], "the model wrote nothing"),
        ([(200, {}, entry_of("Another text"))], "changed the text"),
        ([(200, {}, b"no json")], "the answer is no entry"),
    ],
)
def test_what_goes_wrong_is_one_sentence(shop, answers, words):
    shop.figments = answers
    one = write(open_author(shop), make_request())["r"]
    assert one.status == "failed"
    assert words in one.pieces[-1].problem
    assert "\n" not in one.pieces[-1].problem


def test_a_story_that_is_refused_is_said(shop):
    shop.snapshots = [(406, {}, {}), (500, {}, {"message": "broken"})]
    author = open_author(shop)
    with pytest.raises(UserError, match="can do nothing with this story"):
        author.preprocess(make_request().context)
    one = write(author, make_request())["r"]
    assert "says 500: broken" in one.pieces[-1].problem


def test_a_server_that_goes_away_fails_the_text(shop):
    author = open_author(shop)
    author.preprocess(make_request().context)
    gone = load_author("remote('http://127.0.0.1:9')")
    one = write(gone, make_request())["r"]
    assert "the connection failed" in one.pieces[-1].problem
    with pytest.raises(SettingError, match="no server listens"):
        gone.startup()


def test_a_server_that_says_it_is_complete_is_asked_no_more(shop):
    shop.figments = [(200, {}, entry_of(f"{BEFORE} ran."))]
    one = write(open_author(shop), make_request(wanted="words=-200"))["r"]
    assert (one.text, len(shop.heard)) == (" ran.", 2)


def test_cancelling_does_not_wait_for_the_chunk(shop):
    release = threading.Event()
    shop.figments = [lambda handler: release.wait(20)]
    asked = []
    request = make_request(is_cancelled=lambda: bool(asked.append(1)) or len(asked) > 5)
    try:
        assert write(open_author(shop), request)["r"].status == "cancelled"
    finally:
        release.set()


def test_the_signature_hides_the_address(served):
    signature = open_author(served).signature
    assert signature.startswith("remote,server=")
    assert "127.0.0.1" not in signature
    assert json.dumps(signature)


@pytest.mark.parametrize("url", ["ftp://x", "http://name:word@example.org", "nothing"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SettingError):
        load_author(f"remote({url!r})")
