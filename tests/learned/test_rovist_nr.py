from __future__ import annotations

import csv
import gzip
import json

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.learned import rovist_nr
from fabula.learned.rovist_nr import RovistNr
from fakes.assets import need_asset
from fakes.factories import make_story, value_of

FIGURES = ("AREL_fig3", "GLACNet_fig3", "KG-Story_fig3", "AREL_fig1")


@pytest.fixture
def punkt():
    pytest.importorskip("nltk")
    need_asset("punkt_tab")


@pytest.fixture(scope="module")
def golden(shared):
    path = shared / "reference" / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))["rovist"]["nr_derived"]


@pytest.mark.parametrize("figure", FIGURES)
def test_the_stories_of_the_papers_figures_have_their_set_overlap(golden, figure):
    value = value_of(RovistNr(), golden[figure]["story"])
    assert value == pytest.approx(golden[figure]["paper_set_jaccard"], rel=1e-12)


@pytest.mark.assets
@pytest.mark.parametrize("figure", FIGURES)
def test_compat_gives_the_values_of_the_released_code(punkt, golden, figure):
    value = value_of(RovistNr(compat=True), golden[figure]["story"])
    assert value == pytest.approx(golden[figure]["code"], rel=1e-12)


@pytest.mark.assets
def test_compat_agrees_with_the_published_scores(punkt, shared):
    folder = shared / "data" / "rovist_scores"
    with gzip.open(folder / "stories.json.gz", "rt", encoding="utf-8") as file:
        texts = json.load(file)
    with (folder / "rovist_nr.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::16][:300]
    stories = [make_story(texts[row["story_id"]], id=row["story_id"]) for row in rows]
    scores = RovistNr(compat=True).score(stories)
    equal = [
        abs(score.value - float(row["R_score"])) <= 1e-4
        for score, row in zip(scores, rows, strict=True)
    ]
    assert len(equal) == 300
    assert sum(equal) / len(equal) >= 0.99


@pytest.mark.parametrize(
    ("text", "inter", "intra"),
    [
        # The sets {a b} and {a c}: 1 of 3; no sentence has two blocks.
        ("Xa b. Xa c.", 1 / 3, 0.0),
        # Three pairs: 1, 0 and 0.
        ("Xa b. Xa b. Xc d.", 1 / 3, 0.0),
        # One sentence repeats no other; blocks Xa b c d | e b c d: 3 of 5.
        ("Xa b c d e b c d.", 0.0, 3 / 5),
        # Blocks Xa b c d | e f g h | Xa: only neighbours are compared, and both pairs share none.
        ("Xa b c d e f g h Xa.", 0.0, 0.0),
        # Sentences: Xa in both of 6 kinds; blocks: Xa b c d | Xa is 1 of 4, over both sentences.
        ("Xa b c d Xa. Xa e f.", 1 / 6, 1 / 4),
        # A word that comes twice is one of the set: {Xa} and {Xa b}.
        ("Xa Xa. Xa b.", 1 / 2, 0.0),
        # Case counts: Xa and xa are two.
        ("Xa b. Xc xa.", 0.0, 0.0),
        # Marks within a sentence are tokens: {Xa , b} and {Xc , d}; the last mark is dropped.
        ("Xa, b. Xc, d.", 1 / 5, 0.0),
        # No mark at the end: the last word stays.
        ("Xa b. Xc b", 1 / 3, 0.0),
    ],
)
def test_an_example_by_hand(text, inter, intra):
    assert value_of(RovistNr(), text) == pytest.approx(1 - (inter + intra) / 2, rel=1e-12)


def test_the_size_of_a_block_is_a_setting():
    # Blocks of two: Xa b | b c | Xa: 1 of 3 and 0 of 3, in the mean 1/6.
    assert value_of(RovistNr(2), "Xa b b c Xa.") == pytest.approx(1 - 1 / 12)
    assert value_of(RovistNr(1), "Xa Xa Xa.") == pytest.approx(1 - 1 / 2)


def test_the_same_sentence_again_and_again_has_a_half():
    assert value_of(RovistNr(), "We ran home. We ran home. We ran home.") == pytest.approx(0.5)


@pytest.mark.assets
def test_compat_counts_all_pairs_of_equal_tokens(punkt):
    # a a a and a a a: nine pairs over a set of one, so 1 − 9/2.
    assert value_of(RovistNr(compat=True), "We We We. We We We.") == pytest.approx(1 - 9 / 2)


@pytest.mark.assets
def test_compat_drops_the_last_token_whatever_it_is(punkt):
    # Left of the first sentence: We ran; of the second: We, for it has no mark at its end.
    assert value_of(RovistNr(compat=True), "We ran. We ran") == pytest.approx(1 - 1 / 2 / 2)


@pytest.mark.assets
def test_compat_has_no_value_for_one_sentence(punkt):
    [score] = RovistNr(compat=True).score([make_story("We ran home.")])
    assert score.status is Status.UNDEFINED
    assert score.note
    assert value_of(RovistNr(), "We ran home.") == 1.0


def test_a_story_without_words_is_undefined_not_one():
    [score] = RovistNr().score([make_story("... !")])
    assert score.status is Status.UNDEFINED
    assert score.note


def test_very_many_sentences_are_too_long():
    [score] = RovistNr().score([make_story("We ran. " * 2_500)])
    assert score.status is Status.TOO_LONG
    assert "limit" in score.note


def test_without_punkt_a_compat_score_says_how_to_get_it(tmp_path, monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    rovist_nr._nltk.cache_clear()
    [score] = RovistNr(compat=True).score([make_story("We ran. We hid.")])
    assert score.status is Status.MISSING_MODEL
    assert "fabula models pull punkt_tab" in score.note


@pytest.mark.parametrize("block", [0, -1, 1.5, "4", True])
def test_a_block_must_be_a_whole_number_from_one(block):
    with pytest.raises(SettingError, match="rovist_nr: block="):
        RovistNr(block)
