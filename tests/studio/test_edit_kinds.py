"""Kinds of what is kept, counted by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from fabula.metrics.user import User
from fabula.studio import edit_kinds
from fabula.studio.edit_kinds import (
    EditColumn,
    EditedSuggestion,
    Told,
    analyse_edits,
    count_edit,
    find_start,
    name_experience,
)
from fabula.text.kept_words import spell_name, spell_plainly
from fakes.capital_tagger import tag_capitals

GENERATED = "Then Mara saw Hale beside Brindle harbour. Tobin rowed."
PUBLISHED = "Then Mara saw Hale. Slowly Brindle burned while Tobin rowed."
TOLD = Told((spell_name("Mara Voss"),), (spell_name("The Brindle"),), (spell_plainly("Old Hale"),))


@pytest.fixture(autouse=True)
def tagger(monkeypatch):
    monkeypatch.setattr(edit_kinds, "tag_text", tag_capitals)
    monkeypatch.setattr(edit_kinds, "tagger_trait", lambda tags: "capitals")


def edit(number=0, *, published=PUBLISHED, machine="topk", author="ann", told=TOLD, day=1):
    moment = datetime(2027, 3, day, 12, tzinfo=UTC)
    name = f"s{number}"
    return EditedSuggestion(name, machine, author, "g", GENERATED, published, moment, told)


def test_words_names_and_sentences_are_counted_with_what_was_kept_of_them():
    counted = count_edit(edit(), User(stop_words=""))
    # Kept: Then Mara saw Hale, Brindle, Tobin rowed: seven of nine words.
    assert counted.kept[EditColumn("suggestions", "")] == pytest.approx(7 / 9)
    assert counted.generated == {
        EditColumn("suggestions", ""): 1,
        EditColumn("words", "NOUN"): 5, EditColumn("words", "PROPN"): 4,
        EditColumn("names", "character"): 1, EditColumn("names", "text"): 1,
        EditColumn("names", "card"): 1, EditColumn("names", "new"): 1,
        EditColumn("known", "known"): 3, EditColumn("known", "new"): 1,
        EditColumn("sentences", "1"): 1, EditColumn("sentences", "2"): 1,
    }  # fmt: skip
    kept = {column: count for column, count in counted.kept.items() if column.kind != "suggestions"}
    assert kept == {
        EditColumn("words", "NOUN"): 3, EditColumn("words", "PROPN"): 4,
        EditColumn("names", "character"): 1, EditColumn("names", "text"): 1,
        EditColumn("names", "card"): 1, EditColumn("names", "new"): 1,
        EditColumn("known", "known"): 3, EditColumn("known", "new"): 1,
        # `Tobin rowed` is too short for three words in a row.
        EditColumn("sentences", "1"): 1, EditColumn("sentences", "2"): 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("Mara", "character"),
        ("Captain Mara Voss", "character"),
        ("Brindle's", "card"),
        ("the Brindle", "card"),
        ("Hale", "text"),
        ("Old Hale", "text"),
        ("Mar", "new"),
        ("Hale Brook", "new"),
    ],
)
def test_a_name_comes_from_a_character_a_card_the_text_or_nowhere(name, origin):
    assert TOLD.find_origin(name) == origin


def test_a_character_without_a_name_is_nobody():
    assert Told(("  ",), (spell_name(""),)).find_origin("Mara") == "new"


def test_where_nothing_is_known_of_the_story_names_count_nowhere():
    counted = count_edit(edit(told=None), User())
    assert not {"names", "known"} & {column.kind for column in counted.generated}
    assert EditColumn("words", "PROPN") in counted.generated


def test_what_cannot_be_tagged_is_told_and_its_words_are_missing():
    long = EditedSuggestion("s", "m", "a", "g", "word " * 300, "word")
    analysis = analyse_edits([long], resamples=10)
    assert analysis.unread == ("s: 1,000 characters are the limit",)
    assert not analysis.of("words")
    [share] = analysis.of("suggestions")
    assert share.generated == 1 and share.rate.value == pytest.approx(1 / 300)


def test_shares_are_pooled_and_their_intervals_come_of_authors_drawn_again():
    edits = [
        edit(number, author=f"a{number}", published=PUBLISHED if number % 2 else "Nothing at all.")
        for number in range(6)
    ]
    analysis = analyse_edits(edits, resamples=500)
    names = {share.column.name: share for share in analysis.of("words")}
    proper = names["PROPN"]
    assert (proper.generated, proper.kept) == (24, 12)
    assert proper.rate.value == 0.5
    assert proper.of_generated.value == pytest.approx(4 / 9)
    # Stop words alone do not count, so `Then` is kept with Mara, and `rowed` with Tobin.
    assert proper.of_kept.value == pytest.approx(12 / 21)
    assert proper.gain.value == pytest.approx(12 / 21 - 4 / 9)
    assert proper.rate.low < 0.5 < proper.rate.high
    # Where anything is kept it is the same in every author: the gain has no other value.
    assert (proper.gain.low, proper.gain.high) == pytest.approx((12 / 21 - 4 / 9,) * 2)
    assert (analysis.authors, analysis.games) == (6, 1)
    # One game says nothing of others.
    by_game = analyse_edits(edits, unit="game", resamples=50)
    assert all(math.isnan(share.rate.low) for share in by_game.shares)
    assert [s.rate.value for s in by_game.shares] == [s.rate.value for s in analysis.shares]


def test_machines_stand_beside_the_whole_where_there_are_several():
    edits = [edit(0), edit(1, machine="nucleus", published="Nothing at all.")]
    analysis = analyse_edits(edits, resamples=10)
    assert analysis.machines == {"nucleus": 1, "topk": 1}
    rates = {
        machine: analysis.of("suggestions", machine)[0].rate.value
        for machine in ("", "nucleus", "topk")
    }
    assert rates == pytest.approx({"": 7 / 18, "nucleus": 0, "topk": 7 / 9})
    assert {share.machine for share in analyse_edits(edits[:1], resamples=10).shares} == {""}


def test_suggestions_are_followed_by_period_and_by_their_authors_experience():
    edits = [edit(number, day=9 - number, author="ann" if number else "bob") for number in range(7)]
    analysis = analyse_edits(edits, by="week", resamples=10)
    # 1 March 2027 is a Monday; Bob's is the last.
    weeks = {share.column.name: share.generated for share in analysis.of("time")}
    assert weeks == {"2027-03-01": 5, "2027-03-08": 2}
    stretches = {share.column.name: share.generated for share in analysis.of("experience")}
    assert stretches == {"1": 2, "2–5": 4, "6–10": 1}
    assert list(stretches) == ["1", "2–5", "6–10"]


def test_what_has_no_moment_is_in_no_period():
    undated = EditedSuggestion("s", "m", "a", "g", GENERATED, PUBLISHED)
    analysis = analyse_edits([undated], resamples=10)
    assert not analysis.of("time") and analysis.of("experience")


def test_sentences_far_back_are_counted_together_and_in_order():
    text = " ".join(f"Line number {place} stands here." for place in range(12))
    analysis = analyse_edits([EditedSuggestion("s", "m", "a", "g", text, text)], resamples=10)
    assert [share.column.name for share in analysis.of("sentences")] == [
        str(place) for place in range(1, 11)
    ]
    assert analysis.of("sentences")[-1].generated == 3


def test_periods_begin_on_mondays_and_on_the_first():
    moment = datetime(2027, 3, 7, 23, tzinfo=UTC)
    starts = [find_start(moment, by).isoformat() for by in ("day", "week", "month")]
    assert starts == ["2027-03-07", "2027-03-01", "2027-03-01"]


def test_experience_is_named_by_its_stretch():
    names = [name_experience(number) for number in (1, 2, 5, 6, 20, 21, 10_000)]
    assert names == ["1", "2–5", "2–5", "6–10", "11–20", "21 and on", "21 and on"]


def test_the_same_seed_gives_the_same_intervals():
    edits = [edit(n, author=f"a{n}", published=PUBLISHED if n % 3 else "Hale.") for n in range(9)]
    one, two, other = (analyse_edits(edits, resamples=40, seed=seed) for seed in (1, 1, 2))
    ends = [np.array([s.rate.interval for s in found.shares]) for found in (one, two, other)]
    assert np.array_equal(ends[0], ends[1], equal_nan=True)
    assert not np.array_equal(ends[0], ends[2], equal_nan=True)


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_the_real_tagger_finds_names_and_their_origins(monkeypatch):
    monkeypatch.undo()
    told = Told((spell_name("Peter Voss"),), (spell_name("London"),))
    text = "Then Peter walked to London with Alice Brown. She was tired."
    counted = count_edit(EditedSuggestion("s", "m", "a", "g", text, text, told=told), User())
    assert counted.generated[EditColumn("words", "PROPN")] == 4
    names = {column.name: n for column, n in counted.kept.items() if column.kind == "names"}
    assert names == {"character": 1, "card": 1, "new": 1}
