from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError, UnknownName
from fabula.meta.study import study_kind
from fabula.replication.analyses import choose_analyses, read_analyses
from fabula.replication.storyer.study import ANALYSES, StoryerStudy

REPO = Path(__file__).resolve().parents[3]
HEAD = 'kind = "storyer"\ntitle = "T"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_that_comes_with_fabula_lists_every_analysis() -> None:
    study = read_analyses(StoryerStudy, REPO / "studies" / "storyer.toml")
    assert set(study.analyses) == set(ANALYSES)
    assert study.ablation.depth == "heads"


def test_without_a_kind_a_study_is_of_ratings(tmp_path: Path) -> None:
    assert study_kind(written(tmp_path, 'title = "T"\ndataset = "wood"\n')) == "ratings"
    assert study_kind(REPO / "studies" / "storyer.toml") == "storyer"
    with pytest.raises(InputError, match="no study is of kind 'storier'"):
        study_kind(written(tmp_path, 'kind = "storier"\n'))


def test_analyses_can_be_chosen(tmp_path: Path) -> None:
    study = read_analyses(StoryerStudy, written(tmp_path, HEAD + 'analyses = ["sentiment"]\n'))
    assert study.analyses == ("sentiment",)
    assert choose_analyses(study, ["losses", "losses"]).analyses == ("losses",)


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ('analyses = ["sentimental"]', UnknownName, "sentimental"),
        ("analyses = []", SettingError, "no analysis"),
        ("[ablaton]", UnknownName, "ablaton"),
        ("[ablation]\nfolds = 1", SettingError, "folds"),
        ("[ablation]\nfold = 3", SettingError, "ablation.fold "),
        ('[ablation]\ndepth = "deep"', SettingError, "depth must be one of"),
        ("resamples = 0", SettingError, "resamples"),
        ("[distributions]\nstories = 1", SettingError, "stories"),
    ],
)
def test_what_means_nothing_is_said(
    tmp_path: Path, more: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        read_analyses(StoryerStudy, written(tmp_path, f"{HEAD}{more}\n"))
