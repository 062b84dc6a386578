from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets import check_counts
from fabula.datasets.releases.reading import (
    find_file,
    get_field,
    read_rating,
    require_file,
)
from fabula.datasets.releases.verify import (
    compare_counts,
    compare_files,
    compare_scales,
    digest_file,
)
from fabula.datasets.tables.rows import read_rows

STORIES = (Story("a", "One.", system="x", item="1"), Story("b", "Two.", system="y", item="1"))


def make(counts: dict[str, int], *values: float) -> Dataset:
    card = DatasetCard("Toy", "about", "CC0", counts=counts, scales={"fun": (1, 5)})
    ratings = [Score("a", f"human:{place}", "fun", value) for place, value in enumerate(values)]
    chosen = (Preference("a", "b"),)
    return Dataset("toy", card, STORIES, ScoreTable(STORIES, ratings), preferences=chosen)


def test_the_first_name_that_is_there_is_taken_plain_before_gzipped(write, tmp_path: Path) -> None:
    write("b.csv.gz", gzip.compress(b"x\n1\n"))
    assert require_file(tmp_path, "a.csv", "b.csv").label == "b.csv.gz"
    write("b.csv", "x\n2\n")
    assert [row for _, row in read_rows(require_file(tmp_path, "b.csv"))] == [{"x": "2"}]


def test_a_file_may_stand_for_its_folder_if_it_has_the_name(write) -> None:
    path = write("b.csv.gz", gzip.compress(b"x\n1\n"))
    assert require_file(path, "b.csv").path == path
    assert find_file(path, "a.csv") is None
    assert find_file(None, "a.csv") is None


def test_a_release_that_is_not_there_says_which_files_it_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.csv or b\.csv \(plain or \.gz\) is not there; pass"):
        require_file(tmp_path, "a.csv", "b.csv")


def test_a_checksum_does_not_depend_on_gzip(write) -> None:
    expected = hashlib.sha256(b"once").hexdigest()
    assert digest_file(write("a.txt", "once")) == expected
    assert digest_file(write("a.txt.gz", gzip.compress(b"once"))) == expected


def test_a_field_that_is_missing_is_named() -> None:
    assert get_field({"a": 0}, "a", "here") == 0
    for row in ({"b": 1}, {"a": None, "b": 1}):
        with pytest.raises(InputError, match="here: field 'a' is missing; known:"):
            get_field(row, "a", "here")


def test_a_rating_keeps_to_its_scale() -> None:
    assert read_rating("3", "here", (1, 5)) == read_rating(3, "here") == 3.0
    for value, message in (
        ("5.5", "outside the scale 1 to 5"),
        ("nan", "outside"),
        ("x", "no num"),
    ):
        with pytest.raises(InputError, match=message):
            read_rating(value, "here", (1, 5))
    with pytest.raises(InputError, match="no number"):
        read_rating(None, "here")


def test_counts_are_those_of_the_card_or_it_is_refused() -> None:
    whole = make({"stories": 2, "items": 1, "systems": 2, "ratings": 1, "pairs": 1}, 3.0)
    assert check_counts(whole) is whole
    assert whole.counts["scores"] == 0
    with pytest.raises(InputError, match=r"toy: 1 ratings where the release has 9; .*--partial"):
        check_counts(make({"stories": 2, "ratings": 9}, 3.0))


def test_counts_that_differ_and_ratings_off_the_scale_are_wrong() -> None:
    found = make({"stories": 3}, 3.0, 7.0)
    verdicts = {check.what: check.verdict for check in compare_counts(found)}
    assert verdicts["stories"] == "wrong" and verdicts["ratings"] == "ok"
    (scale,) = compare_scales(found)
    assert (scale.found, scale.expected, scale.verdict) == ("3 to 7", "1 to 5", "wrong")


def test_a_file_with_another_checksum_is_not_the_release_we_know(write, tmp_path: Path) -> None:
    known = hashlib.sha256(b"known").hexdigest()
    files = {"a.txt": "", "b.txt": "", "c.txt": "", "d.txt": ""}
    card = DatasetCard("Toy", "", "CC0", files=files, checksums={"a.txt": known, "b.txt": known})
    write("a.txt.gz", gzip.compress(b"known"))
    write("b.txt", "other")
    write("c.txt", "whatever")
    checks = {check.what: check for check in compare_files(card, tmp_path)}
    assert {name: check.verdict for name, check in checks.items()} == {
        "a.txt.gz": "ok", "b.txt": "wrong", "c.txt": "unpinned", "d.txt": "absent",
    }  # fmt: skip
    assert "not the release we know" in checks["b.txt"].found
