"""Pooling, scaling and weights of nouns, by hand and as RoViST's formulas give them."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.text.grounding import NounCounts, pool, read_table, scale, write_table

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "reference" / "golden.json"


def test_log_sum_exp_and_its_scaling_are_those_of_the_formula():
    # log(e + e² + e³) and 2 / (1 + e^(−S/2)) − 1, by a calculator.
    assert pool([1.0, 2.0, 3.0], "lse") == pytest.approx(3.40760596444438, abs=1e-14)
    assert scale(3.40760596444438) == pytest.approx(0.6920615476526983, abs=1e-14)
    for score in (-3.0, 0.0, 0.7, 40.0):
        assert scale(score) == pytest.approx(2 / (1 + math.exp(-score / 2)) - 1, abs=1e-15)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the reference values are not here")
def test_the_reference_values_are_met():
    golden = json.loads(GOLDEN.read_text())["vg_formula_derived"]
    score = pool(golden["idf*cos"], "lse")
    assert score == pytest.approx(golden["lse"], abs=1e-13)
    assert scale(score) == pytest.approx(golden["scaled"], abs=1e-13)


def test_sum_and_mean_are_what_they_say():
    assert pool([1.0, 2.0, 3.0, -4.0], "sum") == 2.0
    assert pool([1.0, 2.0, 3.0, -4.0], "mean") == 0.5


def test_log_sum_exp_grows_with_the_number_of_nouns_and_log_mean_exp_does_not():
    few, many = [0.5, 1.5], [0.5, 1.5] * 8
    assert pool(many, "lse") - pool(few, "lse") == pytest.approx(math.log(8))
    assert pool(many, "lme") == pytest.approx(pool(few, "lme"))
    # log((e^.5 + e^1.5) / 2), between the mean and the best.
    assert pool(few) == pytest.approx(math.log((math.exp(0.5) + math.exp(1.5)) / 2))
    assert pool(few, "mean") < pool(few) < 1.5


def test_large_products_do_not_overflow_and_no_noun_is_undefined():
    assert pool([2000.0, 2000.0], "lse") == pytest.approx(2000 + math.log(2))
    assert pool([-2000.0], "lme") == -2000.0
    for how in ("lse", "sum", "mean", "lme"):
        assert math.isnan(pool([], how))


def count(*stories: str) -> NounCounts:
    counts = NounCounts()
    for story in stories:
        counts.add(story.split())
    return counts


def test_idf_is_the_log_of_stories_by_one_more_than_those_with_the_noun():
    counts = count("dog dog beach", "dog cake", "dog", "lake")
    assert counts.weigh("beach") == pytest.approx(math.log(4 / 2))
    assert counts.weigh("zebra") == pytest.approx(math.log(4 / 1))
    assert counts.weigh("dog") == 0.0


def test_a_noun_of_every_story_counts_nothing_and_below_nothing_as_released():
    counts = count("dog", "dog beach")
    assert counts.weigh("dog") == 0.0
    assert counts.weigh("dog", compat=True) == pytest.approx(math.log(2 / 3))
    with pytest.raises(ValueError, match="no story"):
        NounCounts().weigh("dog")


def test_an_unseen_noun_weighs_no_more_than_the_rarest_of_a_table():
    counts = NounCounts(1000, Counter(dog=300, beach=20, gazebo=5, begonia=4, dgo=1))
    table = counts.keep_frequent(5)
    assert set(table.counts) == {"dog", "beach", "gazebo"}
    assert table.weigh("dgo") == table.weigh("gazebo") == pytest.approx(math.log(1000 / 6))
    assert counts.weigh("dgo") > table.weigh("dgo") > table.weigh("beach")


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = NounCounts(1000, Counter({"dog": 300, "fire truck": 5, "gazebo": 5})).keep_frequent(5)
    write_table(tmp_path / "nouns.tsv", table)
    lines = (tmp_path / "nouns.tsv").read_text().splitlines()
    assert lines == ["# stories\t1000", "dog\t300", "fire truck\t5", "gazebo\t5"]
    assert read_table(tmp_path / "nouns.tsv") == table


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "how many stories"),
        ("dog\t3\n", "how many stories"),
        ("# stories\t0\n", "how many stories"),
        ("# stories\t10\ndog\n", "line 2"),
        ("# stories\t10\ndog\t3\ncat\tmany\n", "line 3"),
        ("# stories\t10\ndog\t11\n", "a count up to 10"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_table_that_will_not_do_says_where(tmp_path, content, words):
    path = tmp_path / "nouns.tsv"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=words):
        read_table(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "nothing.tsv")
