"""STORIUM's printed figures beside the reference that they were copied from."""

from __future__ import annotations

import json

import pytest

from fabula.studio.filters import Filter
from fabula.studio.printed import printed_figures
from fabula.studio.quality import list_columns

SHORT = {
    "Rel": "Relevance",
    "Lik": "Likability",
    "Flu": "Fluency",
    "Coh": "Coherence",
    "USER": "USER",
}
SYSTEMS = {"topk": "top-k", "nucleus": "nucleus"}


def test_printed_figures_are_those_of_the_paper(shared):
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    printed, storium = printed_figures(), golden["storium"]
    means = {(each.table, each.system, each.quality): each.mean for each in printed.means}
    for short, system in SYSTEMS.items():
        table = dict(storium["table5"][short])
        for name, mean in table.pop("means").items():
            scale = 100 if name == "USER" else 1
            assert means["5", system, SHORT[name]] * scale == pytest.approx(mean)
        assert len(table) == 10
        for pair, r in table.items():
            left, right = (SHORT[name] for name in pair.split("-"))
            assert printed.find_r(system, right, left) == r
        place = list(SYSTEMS).index(short)
        for name in ("ROUGE-L", "ROUGE-W", "USER"):
            expected = storium["tableA4"][name][place]
            assert means["A4", system, name] * 100 == pytest.approx(expected)
    counts = {each.system: each.n for each in printed.means if each.table == "A4"}
    assert [counts["top-k"], counts["nucleus"]] == storium["tableA4"]["counts"]


def test_printed_figures_are_called_as_ours_are():
    printed = printed_figures()
    ours = {label for label, _ in list_columns(Filter())}
    assert {each.quality for each in printed.means} <= ours
    assert {name for each in printed.correlations for name in (each.left, each.right)} <= ours
    assert printed.find_r("top-k", "ROUGE-1", "USER") is None
    assert printed.kept["known names"] + printed.kept["new names"] == pytest.approx(1)
