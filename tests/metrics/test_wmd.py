from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.datasets.tables.stories import StoryFile
from fabula.metrics import wmd
from fabula.metrics.wmd import Wmd, content_words
from fabula.models import load_model
from fabula.scoring.folder import read_run
from fabula.scoring.run import RunOptions, run
from fakes.factories import make_story, usual_text, value_of

pytest.importorskip("ot")
WORDS = "sea 0 0\nocean 3 4\nship 1 0\nboat 1 2\nking 0 1\n"


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(WORDS, encoding="utf-8")
    return f"word_vectors({str(path)!r})"


def by_linear_programme(text, reference):
    """The whole bags, nothing taken out beforehand, by scipy's linprog (HiGHS)."""
    optimize = pytest.importorskip("scipy.optimize")
    bags = [Counter(side.split()) for side in (text, reference)]
    rows = [load_model("fake()").rows(list(bag)) for bag in bags]
    weights = [np.array(list(bag.values())) / bag.total() for bag in bags]
    costs = np.linalg.norm(rows[0][:, None] - rows[1][None], axis=2)
    sums = [np.kron(np.eye(len(costs)), np.ones(costs.shape[1]))]
    sums += [np.kron(np.ones(len(costs)), np.eye(costs.shape[1]))]
    found = optimize.linprog(costs.ravel(), A_eq=np.vstack(sums), b_eq=np.concatenate(weights))
    return found.fun


def test_two_words_are_as_far_apart_as_their_vectors(words):
    assert value_of(Wmd(words), "Sea!", "The ocean.") == pytest.approx(5.0)


def test_mass_takes_the_cheapest_way(words):
    # Half of the mass goes from ship (1, 0) to boat (1, 2), a way of 2; the sea stays.
    assert value_of(Wmd(words), "sea ship", "sea boat") == pytest.approx(0.5 * 2)
    # sea → king 1 and ship → boat 2, each with half of the mass; the other way round it would be
    # √5 and √2.
    assert value_of(Wmd(words), "sea ship", "king boat") == pytest.approx(0.5 * 1 + 0.5 * 2)
    # Two thirds of sea against one third: a third goes from sea to ship.
    assert value_of(Wmd(words), "sea sea ship", "sea ship ship") == pytest.approx(1 / 3)


def test_it_equals_a_linear_programme_of_the_whole_bags():
    for seed in range(4):
        text, reference = (usual_text(400, seed).lower().replace(".", "") for seed in (seed, 9))
        found = value_of(Wmd("fake()", stop_words=""), text, reference)
        assert found == pytest.approx(by_linear_programme(text, reference), rel=1e-9)


def test_it_is_a_distance(words):
    metric, text = Wmd("fake()"), usual_text(2_000, seed=1)
    shuffled = " ".join(sorted(text.split()))
    assert value_of(metric, text, text) == 0.0
    assert value_of(metric, text, shuffled) == pytest.approx(0.0, abs=1e-12)
    forth, back = (value_of(metric, *pair) for pair in (("sea", "ship boat"), ("ship boat", "sea")))
    assert forth == pytest.approx(back)


def test_stop_words_are_left_out_unless_they_are_wanted(words, tmp_path):
    pair = "The sea and the ship", "sea ship"
    assert value_of(Wmd("fake()"), *pair) == 0.0
    assert value_of(Wmd("fake()", stop_words=""), *pair) > 0.1
    own = tmp_path / "own.txt"
    own.write_text("ship\n", encoding="utf-8")
    assert value_of(Wmd(words, stop_words=str(own)), "sea ship", "sea") == 0.0


def test_an_apostrophe_parts_a_word_unless_all_of_it_is_a_stop_word():
    english = Wmd("fake()")._left_out
    assert content_words("The sailor's dog doesn't.", english) == ("sailor", "dog")


def test_coverage_is_the_share_of_content_words_with_a_vector(words):
    # sea and ship of sea, dragon, ship and dragon; all of the reference.
    [score] = Wmd(words).score([make_story("A sea dragon, the ship dragon", "ocean")])
    assert score.ok
    assert score.coverage == pytest.approx(2 / 4)


@pytest.mark.parametrize(
    ("text", "reference", "note"),
    [
        ("dragon", "sea", "1 of 1 token is unknown to "),
        ("sea", "dragon", "1 of 1 token of the reference is unknown to "),
        ("the", "the", "the story has no content word with a vector"),
        ("sea", "the", "the reference has no content word with a vector"),
    ],
)
def test_a_text_without_a_known_content_word_is_undefined(words, text, reference, note):
    [score] = Wmd(words).score([make_story(text, reference)])
    assert score.status is Status.UNDEFINED
    assert score.note.startswith(note)


def test_the_nearest_reference_counts(words):
    assert value_of(Wmd(words), "sea", "ocean", "king", "dragon", " ") == pytest.approx(1.0)


def test_pairs_over_the_limit_are_too_long(monkeypatch):
    monkeypatch.setattr(wmd, "MOST_PAIRS", 3)
    [score] = Wmd("fake()").score([make_story("sea ship gold", "sea boat king")])
    assert score.status is Status.TOO_LONG
    assert score.note == "2 × 2 words that differ (4 pairs): over the limit of 3"


def test_stop_words_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        Wmd(stop_words=str(tmp_path / "none"))


def test_without_pot_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    [score] = Wmd("fake()").score([make_story("sea", "ship")])
    assert score.status is Status.MISSING_MODEL
    assert score.note == "POT is not installed; run: pip install -e '.[models]'"


def test_a_similarity_is_higher_for_the_nearer_of_two_references(words):
    metric = Wmd(words, similarity=True)
    # The sea is 5 from the ocean, and 1 from the ship.
    assert value_of(metric, "sea", "ocean") == pytest.approx(1 / 6)
    assert value_of(metric, "sea", "ocean", "ship") == pytest.approx(1 / 2)
    assert value_of(metric, "sea", "sea") == 1.0
    assert (metric.direction, Wmd(words).direction) == ("higher", "lower")


def test_a_run_says_the_direction_of_what_was_asked_for(words, tmp_path):
    (tmp_path / "tales.jsonl").write_text('{"id": "a", "text": "sea", "reference": "ocean"}\n')
    metrics = [Wmd(words), Wmd(words, similarity=True)]
    run(StoryFile(tmp_path / "tales.jsonl"), metrics, RunOptions(tmp_path / "run", cache=False))
    told = read_run(tmp_path / "run")["metrics"]
    assert [metric["direction"] for metric in told] == ["lower", "higher"]
