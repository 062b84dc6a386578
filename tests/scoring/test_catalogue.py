from __future__ import annotations

import pytest

from fabula.core.errors import UnknownName, UserError
from fabula.scoring.catalogue import METRICS, SETS, choose_metrics, spec


def specs(wanted: object) -> list[str]:
    return [metric.spec for metric in choose_metrics(wanted)]


def test_a_spec_has_one_spelling() -> None:
    assert spec(" rouge( n = 2 ) ") == spec("rouge(2)") == "rouge(n=2)"


def test_metrics_are_chosen_once_and_in_order() -> None:
    assert specs(["words,rouge(n=2)", "rouge(2)", METRICS.build("bleu"), "words"]) == [
        "words",
        "rouge(n=2)",
        "bleu",
    ]
    assert specs("words") == specs(METRICS.build("words")) == ["words"]


@pytest.mark.parametrize("name", SETS)
def test_every_set_stands_for_metrics(name: str) -> None:
    assert specs(name)


def test_the_baselines_are_among_the_strings_and_the_strings_among_all() -> None:
    assert set(specs("baselines")) < set(specs("strings")) <= set(specs("all"))


def test_nobody_who_says_all_asks_a_hub_for_gigabytes() -> None:
    everything = {metric.name for metric in choose_metrics("all")}
    of_pictures = {"rovist", "rovist_vg", "tiger"}
    judges = {name for name in METRICS.names() if METRICS.get(name).card.family == "judge"}
    assert set(METRICS.names()) - everything == {"bartscore", "summaqa"} | of_pictures | judges
    assert len(judges) == 4


def test_no_metric_is_an_error() -> None:
    for nothing in ([], "", " , "):
        with pytest.raises(UserError, match="no metric is chosen"):
            choose_metrics(nothing)


def test_an_unknown_name_suggests_a_metric_or_a_set() -> None:
    with pytest.raises(UnknownName, match="did you mean 'baselines'"):
        choose_metrics("baseline")
    with pytest.raises(UnknownName, match=r"known: .*bleu.*strings"):
        choose_metrics("zzzzzz")
