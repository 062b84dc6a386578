"""A co-author offered by STORIUM's model protocol, over real HTTP on this machine."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.authors import load_author
from fabula.authors.context.ranges import count_units, parse_wanted
from fabula.authors.serving.app import ServingSettings, Snapshots, find_status
from fabula.authors.serving.batches import BatchSettings
from fabula.core.errors import NotFound
from fakes.figment_server import serve
from fakes.storium_games import SMALL, entry

NEW = "figment/g1/new?suggestion_type=scene_entry"
BOUNDS = ServingSettings(max_body=20_000, max_inflated=100_000)


@pytest.fixture(scope="module")
def served():
    with serve(load_author("lorem"), BOUNDS) as found:
        assert found.post("story/snapshot", {"story_id": "g1", "story": SMALL}) == (200, {})
        yield found


def write(served, text="Ida ran.", wanted="words=-50", **headers):
    return served.post(NEW, entry(9, text), {"Range": wanted, **headers})


def test_an_entry_comes_back_with_more_text(served):
    status, answer = write(served)
    assert status == 206
    assert answer["description"].startswith("Ida ran. ")
    assert count_units(answer["description"], "words") > 10
    assert answer | {"description": ""} == entry(9, "")


def test_a_range_with_both_ends_is_complete(served):
    status, answer = write(served, "", "words=0-29")
    assert (status, count_units(answer["description"], "words") <= 30) == (200, True)
    assert write(served, None, "words=0-29") == (status, answer)


def test_a_text_that_is_full_is_complete(served):
    assert write(served, "One two.", "words=3-3")[0] == 200
    assert write(served, "One two.", "words=-0")[0] == 200


@pytest.mark.parametrize(
    "range_", ["words=5-9", "words=0-", "words=-5,-6", "pages=-5", "x", "words="]
)
def test_a_range_that_cannot_be_written_is_416(served, range_):
    status, answer = write(served, "One two.", range_)
    assert (status, bool(answer["message"])) == (416, True)


def test_a_missing_range_is_416(served):
    assert served.post(NEW, entry(9, ""))[0] == 416


def test_a_story_that_was_never_sent_is_404(served):
    path = "figment/other/new?suggestion_type=scene_entry"
    assert served.post(path, entry(9, ""), {"Range": "words=-5"})[0] == 404


def test_a_co_author_that_fails_is_406_with_its_sentence():
    with serve(load_author("lorem(fail=1)")) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        status, answer = write(served)
        assert (status, "told to fail" in answer["message"]) == (406, True)


def test_a_story_that_a_co_author_refuses_is_406_and_not_kept():
    from fabula.core.errors import InputError

    author = load_author("lorem")

    def refuse(context):
        raise InputError("too long a story")

    author.preprocess = refuse
    with serve(author) as served:
        assert served.post("story/snapshot", {"story_id": "g1", "story": SMALL})[0] == 406
        assert write(served)[0] == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"nonsense", b"[1]", {}, {"story_id": "g1"}, {"story_id": 3, "story": {}},
     {"story_id": "", "story": {}}, {"story_id": "g2", "story": []}],
)  # fmt: skip
def test_a_body_that_is_no_snapshot_is_refused(served, body):
    assert served.post("story/snapshot", body)[0] in (400, 422)


@pytest.mark.parametrize(
    "story",
    [{}, {"scenes": 3, "characters": "x"}, {"scenes": [None, {"entries": [7, {"role": 5}]}]}],
)
def test_a_story_of_any_shape_can_be_gone_on_with(served, story):
    assert served.post("story/snapshot", {"story_id": "odd", "story": story})[0] == 200
    path = "figment/odd/new?suggestion_type=scene_entry"
    assert served.post(path, {"role": None}, {"Range": "words=-5"})[0] == 206


@pytest.mark.parametrize("text", [3, ["x"], {"a": 1}])
def test_a_text_that_is_none_is_refused(served, text):
    assert write(served, text)[0] == 422


def test_another_type_of_suggestion_is_refused(served):
    path = "figment/g1/new?suggestion_type=cards"
    assert served.post(path, entry(9, ""), {"Range": "words=-5"})[0] == 422


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_bodies_may_be_compressed(served, name, pack):
    body = json.dumps(entry(9, "Ida ran.")).encode()
    plain = write(served)
    packed = served.post(NEW, pack(body), {"Range": "words=-50", "Content-Encoding": name})
    assert packed == plain


def test_bodies_are_bounded_packed_and_unpacked(served):
    long = json.dumps(entry(9, "x" * 200_000)).encode()
    assert served.post(NEW, long, {"Range": "words=-5"})[0] == 413
    bomb = gzip.compress(long)
    assert len(bomb) < 5_000
    headers = {"Range": "words=-5", "Content-Encoding": "gzip"}
    assert served.post(NEW, bomb, headers)[0] == 413
    assert served.post(NEW, bomb[:40], headers)[0] == 400
    assert served.post(NEW, bomb, headers | {"Content-Encoding": "br"})[0] == 415


def test_pages_of_other_sites_are_turned_away(served):
    assert write(served, Origin="https://example.org")[0] == 403


def test_its_health_names_who_writes(served):
    with urlopen(f"{served.url}/healthz", timeout=5) as response:
        assert json.loads(response.read())["author"].startswith("lorem,")


def test_many_at_once_are_written_side_by_side():
    with serve(load_author("lorem(delay_s=0.002)")) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        alone = time.monotonic()
        write(served)
        alone = time.monotonic() - alone
        together = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: write(served), range(8)))
        assert time.monotonic() - together < 4 * alone
        assert {status for status, _ in answers} == {206}
        assert len({answer["description"] for _, answer in answers}) == 1


def test_too_many_at_once_are_told_to_come_again():
    batches = BatchSettings(size=1, most_waiting=1)
    with serve(load_author("lorem(delay_s=0.01)"), batches=batches) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        with ThreadPoolExecutor(6) as pool:
            statuses = list(pool.map(lambda _: write(served)[0], range(6)))
        assert set(statuses) == {206, 503}


def test_who_hangs_up_stops_the_co_author():
    # Four sentences of four words at least: eight seconds, if nobody stopped it.
    with serve(load_author("lorem(delay_s=0.5)")) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        host, port = served.url.removeprefix("http://").split(":")
        body = json.dumps(entry(9, "")).encode()
        head = f"POST /{NEW} HTTP/1.1\r\nHost: x\r\nRange: words=-9999\r\n"
        with socket.create_connection((host, int(port))) as client:
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(0.3)
        began = time.monotonic()
        assert write(served, wanted="words=-1")[0] == 206
        assert time.monotonic() - began < 5


def test_ending_serves_what_was_asked():
    with serve(load_author("lorem(delay_s=0.005)")) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        answers = []
        thread = threading.Thread(target=lambda: answers.append(write(served)))
        thread.start()
        time.sleep(0.1)
    thread.join()
    assert answers[0][0] == 206


def test_of_many_stories_those_used_last_are_kept():
    snapshots = Snapshots(3, 10_000)
    for number in range(3):
        snapshots.put(str(number), {"n": number})
    snapshots.get("0")
    snapshots.put("3", {"n": 3})
    assert snapshots.get("0") == {"n": 0}
    with pytest.raises(NotFound):
        snapshots.get("1")
    snapshots.put("big", {"n": "x" * 9_990})
    with pytest.raises(NotFound):
        snapshots.get("0")


@pytest.mark.parametrize(
    ("wanted", "text", "ours", "released"),
    [
        ("words=-50", "one " * 60, 206, 206),  # always, as released
        ("words=-50", "", 200, 206),
        ("words=0-9", "one " * 5, 200, 206),
        ("words=0-9", "one " * 10, 200, 206),
        ("words=0-9", "one " * 11, 200, 200),  # more than the end and one
    ],
)
def test_when_a_text_is_complete_and_when_it_was_as_released(wanted, text, ours, released):
    assert find_status(parse_wanted(wanted), "", text) == ours
    assert find_status(parse_wanted(wanted), "", text, compat=True) == released


def test_as_released_what_is_empty_has_failed():
    with serve(load_author("lorem"), ServingSettings(compat=True)) as served:
        served.post("story/snapshot", {"story_id": "g1", "story": SMALL})
        assert write(served, "", "words=0-29")[0] == 206
        assert write(served, "One two.", "words=3-3")[0] in (206, 406)
        assert write(served, "One two.", "words=-0")[0] == 406


KEYS = st.sampled_from(
    ["scenes", "entries", "characters", "character_seq_id", "name", "description", "role", "format",
     "place_card", "challenge_cards", "cards_played_on_challenge", "target_challenge_card",
     "namespace", "success_stakes", "seq_id"]
)  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(["move", "establishment"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@pytest.fixture(scope="module")
def swift():
    with serve(load_author("lorem"), batches=BatchSettings(fill_within_s=0)) as found:
        yield found


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(KEYS, PLAIN, max_size=4), st.dictionaries(KEYS, PLAIN, max_size=4))
def test_no_story_and_no_entry_is_an_error_of_ours(swift, story, entry):
    # A NUL in a text is no JSON of ours (400).
    assert swift.post("story/snapshot", {"story_id": "g1", "story": story})[0] in (200, 400)
    assert swift.post(NEW, entry, {"Range": "words=-3"})[0] in (206, 400, 404, 422)
