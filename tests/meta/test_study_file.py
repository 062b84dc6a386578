from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.meta.study import USUAL_PARTS, Study, StudyFile, read_study, study_kind

REPO = Path(__file__).resolve().parents[2]
HEAD = 'title = "Tales"\ndataset = "own"\n'
WHOLE = """
title = "Tales again"
about = ["One paragraph.", "Another."]
dataset = "own"
printed = "reference/own.json"
parts = ["standing", "scatter"]

[study]
scorers = ["family:string", "words"]
levels = ["item"]
resamples = 20
settle = true

[selection]
metrics = ["BLEU", "chrF"]

[top_k]
metrics = ["BLEU"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tales.toml"


def read(path: Path, text: str) -> StudyFile:
    path.write_text(text, encoding="utf-8")
    return read_study(path)


def test_a_title_and_a_data_set_are_enough(path: Path) -> None:
    assert read(path, HEAD) == StudyFile("Tales", "own")
    assert read(path, HEAD).parts == USUAL_PARTS and read(path, HEAD).study == Study()


def test_everything_that_is_declared_is_read(path: Path) -> None:
    found = read(path, WHOLE)
    assert found.title == "Tales again" and found.about == ("One paragraph.", "Another.")
    assert (found.dataset, found.printed) == ("own", "reference/own.json")
    assert found.parts == ("standing", "scatter") and found.selection == ("BLEU", "chrF")
    assert found.study == Study(
        scorers=("family:string", "words"), levels=("item",), resamples=20, settle=True
    )
    assert found.options == {"top_k": {"metrics": ["BLEU"]}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "title is missing"),
        ('title = 3\ndataset = "own"', "title must be a string, not '3'"),
        ('title = "Tales"', "dataset is missing"),
        ("title = ", "is no TOML"),
        ("title = 'a'\ntitle = 'b'", "is no TOML"),
        (HEAD + 'partz = ["standing"]', "partz is no field that is known; did you mean 'parts'?"),
        (HEAD + "study = 3", "study must be an object, not '3'"),
        (HEAD + "[parts]\nfirst = 1", "parts must be a list"),
        (HEAD + 'parts = "standing"', "parts must be a list, not 'standing'"),
        (HEAD + "about = [1]", "about[0] must be a string, not '1'"),
        (HEAD + "printed = 3", "printed must be a string, not '3'"),
        (HEAD + '[selection]\nmetrics = "BLEU"', "[selection]: metrics must be a list, not 'BLEU'"),
        (HEAD + "[selection]\nmetric = []", "metric is no field that is known"),
        (HEAD + "[example]\nitem = 0", "[example]: item must be a string, not '0'"),
        (HEAD + '[example]\nsystems = "GPT"', "[example]: systems must be a list, not 'GPT'"),
        (HEAD + "[example]\nnote = ['a']", "[example]: note must be a string"),
        (HEAD + "[top_k]\nmetrics = [3]", "[top_k]: metrics[0] must be a string, not '3'"),
        (HEAD + "[comparison]\nwords = 3", "[comparison]: words must be a list, not '3'"),
        (HEAD + "[study]\nresamples = 0", "resamples=0 will not do"),
        (HEAD + "[study]\nresamples = 99999999999999999999", "give 1 to 1,000,000"),
        (HEAD + "[study]\nseed = -1", "seed=-1 will not do"),
        (HEAD + "[study]\nalpha = 2", "alpha=2 will not do"),
        (
            HEAD + '[study]\nlevels = ["story"]',
            "study.levels[0] must be one of 'item', 'system', 'pooled', not 'story'",
        ),
        (HEAD + '[study]\nlevels = "item"', "study.levels must be a list, not 'item'"),
        (
            HEAD + '[study]\ncoefficients = ["rho"]',
            "study.coefficients[0] must be one of 'pearson', ",
        ),
        (
            HEAD + '[study]\nresamples = "many"',
            "study.resamples must be a whole number, not 'many'",
        ),
        (HEAD + "[study]\nsettle = 1", "study.settle must be true or false, not '1'"),
        (HEAD + '[study]\nalpha = "small"', "study.alpha must be a number, not 'small'"),
        (
            HEAD + "[study]\nresample = 3",
            "study.resample is no field that is known; did you mean 'resamples'?",
        ),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read(path, text)
    said = str(caught.value)
    assert said.startswith(str(path)) and words in said and "\n" not in said


def test_a_whole_number_will_do_for_a_number(path: Path) -> None:
    assert read(path, HEAD + "[study]\nalpha = 0").study.alpha == 0.0


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    with pytest.raises(UserError, match=r"tales\.toml cannot be read \(No such file"):
        read_study(path)
    path.write_bytes(b'title = "\xff"')
    with pytest.raises(UserError, match=r"tales\.toml is no TOML \(.*utf-8"):
        read_study(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_study(path.parent)


STUDIES = [one for one in sorted((REPO / "studies").glob("*.toml")) if study_kind(one) == "ratings"]


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: p.stem)
def test_studies_of_the_repository_can_be_read(path: Path) -> None:
    from fabula.datasets import DATASETS
    from fabula.reports.parts import known_parts

    found = read_study(path)
    assert found.title and found.dataset in DATASETS
    assert [part for part in found.parts if part not in known_parts()] == []
    assert set(found.options) - {"comparison"} <= set(found.parts)


def test_the_usual_parts_are_parts() -> None:
    from fabula.reports.parts import known_parts

    assert [part for part in USUAL_PARTS if part not in known_parts()] == []
