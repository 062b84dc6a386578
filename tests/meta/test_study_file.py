from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.meta.study import Study
from fabula.meta.study_file import USUAL_PARTS, StudyFile, read_study, study_kind

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
        ("", "no title"),
        ('title = 3\ndataset = "own"', "no title"),
        ('title = "Tales"', "no dataset"),
        ("title = ", "not a study file"),
        ("title = 'a'\ntitle = 'b'", "not a study file"),
        (HEAD + 'partz = ["standing"]', "'partz' means nothing here; did you mean 'parts'?"),
        (HEAD + "study = 3", "'study' means nothing here"),
        (HEAD + "[parts]\nfirst = 1", "'parts' means nothing here"),
        (HEAD + 'parts = "standing"', "parts = 'standing' will not do; give a list"),
        (HEAD + "about = [1]", "about = (1,) will not do; give a list"),
        (HEAD + "printed = 3", "printed = 3 will not do; give words in quotes"),
        (HEAD + '[selection]\nmetrics = "BLEU"', "metrics of the selection = 'BLEU' will not do"),
        (HEAD + '[study]\nlevels = ["story"]', "no level is called 'story'"),
        (HEAD + '[study]\nlevels = "item"', "levels = 'item' will not do; give a list"),
        (HEAD + '[study]\ncoefficients = ["rho"]', "no coefficient is called 'rho'"),
        (HEAD + '[study]\nresamples = "many"', "resamples = 'many' will not do; give a whole"),
        (HEAD + "[study]\nsettle = 1", "settle = 1 will not do; give true or false"),
        (HEAD + '[study]\nalpha = "small"', "alpha = 'small' will not do; give a number"),
        (HEAD + "[study]\nresample = 3", "no 'resample'; did you mean 'resamples'?"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read(path, text)
    said = str(caught.value)
    assert said.startswith(f"{path}: ") and words in said and "\n" not in said


def test_a_whole_number_will_do_for_a_number(path: Path) -> None:
    assert read(path, HEAD + "[study]\nalpha = 0").study.alpha == 0.0


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    with pytest.raises(UserError, match=r"tales\.toml: not a study file \(.*No such file"):
        read_study(path)
    path.write_bytes(b'title = "\xff"')
    with pytest.raises(UserError, match=r"tales\.toml: not a study file \(.*utf-8"):
        read_study(path)
    with pytest.raises(UserError, match="not a study file"):
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
