"""The co-author for tests: its seeds, its delays and its failures."""

from __future__ import annotations

import sys
import time

import pytest

from fabula.authors import author_spec, load_author
from fabula.authors.context.ranges import count_units
from fabula.core.author import Context, Decoding, Segment
from fabula.core.errors import SettingError
from fakes.author_contract import make_request, write


def test_the_same_seed_writes_the_same_and_another_does_not():
    requests = [
        make_request(f"r{seed}", seed=seed, context=make_request().context) for seed in (1, 2)
    ]
    again = make_request("again", seed=1, context=make_request().context)
    texts = {name: one.text for name, one in write(load_author("lorem"), *requests, again).items()}
    assert texts["again"] == texts["r1"] != texts["r2"]


def test_it_writes_word_by_word():
    one = write(load_author("lorem"), make_request(wanted="tokens=-12", text=""))["r"]
    assert len(one.pieces) > 3
    assert all(len(piece.text.split()) <= 1 for piece in one.pieces if not piece.replaces)
    assert one.pieces[-1].tokens >= 12


def test_a_text_without_an_end_has_the_words_of_the_setting():
    one = write(load_author("lorem(words=20)"), make_request(wanted="words=0-", text=""))["r"]
    assert count_units(one.text, "tokens") <= 20
    assert one.text.endswith(".")


def test_at_most_four_sentences_unless_somebody_says_otherwise():
    request = make_request(wanted="words=-500", decoding=Decoding())
    text = write(load_author("lorem"), request)["r"].text
    assert count_units(text, "sentences", keep_fragments=False) == 4


def test_it_goes_on_with_a_blank():
    assert write(load_author("lorem"), make_request(text="Ida went"))["r"].text.startswith(" ")
    assert not write(load_author("lorem"), make_request(text=""))["r"].text.startswith(" ")


def test_as_many_fail_as_it_is_told():
    requests = [make_request(f"r{seed}", seed=seed) for seed in range(200)]
    written = write(load_author("lorem(fail=0.3)"), *requests).values()
    failed = [one for one in written if one.status == "failed"]
    assert 40 <= len(failed) <= 80
    assert {one.status for one in write(load_author("lorem(fail=1)"), *requests[:5]).values()} == {
        "failed"
    }


def test_a_delay_is_one_for_all_that_write_side_by_side():
    requests = [make_request(f"r{seed}", "tokens=-5") for seed in range(20)]
    begin = time.perf_counter()
    write(load_author("lorem(delay_s=0.01)"), *requests)
    assert 0.05 <= time.perf_counter() - begin < 1


def test_what_it_does_not_read_is_told():
    long = Segment("prompt", "word " * 400, minimum=50)
    request = make_request(context=Context("s", (long,), "x" * 900))
    author = load_author("lorem(window=1000)")
    author.preprocess(request.context)
    prompt, entry = write(author, request)["r"].seen
    assert (entry.tokens, entry.available) == (900, 900)
    assert 50 <= prompt.tokens <= 100 < prompt.available == 2000
    assert long.text.startswith(prompt.text)


def test_what_cannot_be_packed_fails_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "kiwisolver", None)
    tight = make_request("tight", context=Context("s", (Segment("prompt", "x" * 200),), "y" * 200))
    written = write(load_author("lorem(window=100)"), tight, make_request("fine", text=""))
    assert "kiwisolver" in written["tight"].pieces[-1].problem
    assert (written["tight"].status, written["fine"].status) == ("failed", "done")


@pytest.mark.parametrize("spec", ["lorem(fail=2)", "lorem(delay_s=-1)", "lorem(words=0)"])
def test_settings_are_checked(spec):
    with pytest.raises(SettingError):
        load_author(spec)
    assert author_spec("lorem(words=60, fail=0.5)") == "lorem(fail=0.5)"
