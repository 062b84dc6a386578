from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.meta.levels import correlate_cells
from fabula.meta.significance.williams import williams, williams_matrix

pytest.importorskip("scipy")

ASPECTS = {
    "RE": "Relevance",
    "CH": "Coherence",
    "EM": "Empathy",
    "SU": "Surprise",
    "EG": "Engagement",
    "CX": "Complexity",
}
NAN = float("nan")


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    text = (shared / "reference" / "hanna_expected.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["williams"]
    return found


@pytest.fixture(scope="module")
def hanna(shared: Path) -> dict[str, np.ndarray]:
    """Every column as items × machine systems."""
    csv.field_size_limit(10_000_000)
    file = shared / "data" / "hanna" / "hanna_metric_scores_llm.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["Model"] != "Human"]
    names = list(rows[0])[1:79]
    return {name: np.array([json.loads(row[name]) for row in rows]).T for name in names}


def pearson_table(hanna: dict[str, np.ndarray], names: list[str], level: Any) -> np.ndarray:
    return np.array(
        [
            [correlate_cells(hanna[a], hanna[b], level=level, coefficient="pearson") for b in names]
            for a in names
        ]
    )


def test_the_example_of_a_readme_has_its_printed_p() -> None:
    # HANNA's release prints p = 0.20928617286753592 for these.
    found = williams(0.65, 0.55, 0.3, 50)
    assert float(found.p) == pytest.approx(0.20928617286753592, abs=1e-12)
    assert float(found.t) == pytest.approx(0.8160781865467162, abs=1e-12)
    assert found.freedom == 47


def test_by_hand() -> None:
    # r = 0.6, 0, 0 and n = 4: K = 0.64, t = 0.6 √3 / √(2·0.64·3 + 0.09) = 1.03923 / 1.98242;
    # with one degree of freedom p = 1/2 - atan(t) / π.
    found = williams(0.6, 0.0, 0.0, 4)
    assert float(found.t) == pytest.approx(0.6 * 3**0.5 / 3.93**0.5, abs=1e-12)
    assert float(found.p) == pytest.approx(0.5 - np.arctan(0.6 * 3**0.5 / 3.93**0.5) / np.pi)


def test_values_printed_in_the_notebook(shared: Path) -> None:
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    for case in golden["williams"]["cases"]:
        found = williams(case["r12"], case["r13"], case["r23"], case["n"])
        assert float(found.p) == pytest.approx(case["p"], abs=1e-9)
        if "t" in case:
            assert float(found.t) == pytest.approx(case["t"], abs=1e-9)


@pytest.mark.parametrize("name", ["RE BERTScore F1 vs ROUGE-1 Recall", "EM BERTScore F1 vs BLEU"])
def test_both_examples_of_hanna_come_out_of_its_scores(
    name: str, expected: dict[str, Any], hanna: dict[str, np.ndarray]
) -> None:
    aspect, pair = name.split(" ", 1)
    starts = [one.strip() for one in pair.split(" vs ")]
    columns = [next(c for c in hanna if c.startswith(f"{one} Ξ")) for one in starts]
    table = pearson_table(hanna, [ASPECTS[aspect], *columns], "system")
    goal = expected[f"system {name}"]
    assert table[0, 1:] == pytest.approx([goal["r12"], goal["r13"]], abs=1e-9)
    p = williams_matrix(table[0, 1:], table[1:, 1:], 10)
    assert np.nanmin(p) == pytest.approx(goal["p"], abs=1e-9)
    assert np.isnan(p).sum() == 3


@pytest.mark.parametrize(("level", "n"), [("item", 96), ("system", 10)])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_the_three_best_metrics_of_hanna_are_not_told_apart(
    level: str, n: int, aspect: str, expected: dict[str, Any], hanna: dict[str, np.ndarray]
) -> None:
    key = f"{'story' if level == 'item' else level}_{aspect}"
    goals = expected["top3_pearson_pvalues"][key]
    names = list(dict.fromkeys(name for pair in goals for name in pair.split(" > ")))
    table = pearson_table(hanna, [ASPECTS[aspect], *names], level)
    p = williams_matrix(table[0, 1:], table[1:, 1:], n)
    for pair, goal in goals.items():
        better, worse = (names.index(name) for name in pair.split(" > "))
        assert p[better, worse] == pytest.approx(goal, abs=5.1e-5)
        assert np.isnan(p[worse, better])
    assert np.nanmin(p) > 0.05


def test_chrf_and_bertscore_against_bleu_and_rouge_as_recomputed(
    expected: dict[str, Any], hanna: dict[str, np.ndarray]
) -> None:
    for key, (gain, goal) in expected["story_chrF_BERTScore_vs_BLEU_ROUGE"].items():
        aspect, pair = key.split(": ")
        names = pair.split(" vs ")
        table = pearson_table(hanna, [ASPECTS[aspect], *names], "item")
        sizes = np.abs(table[0, 1:])
        assert sizes[0] - sizes[1] == pytest.approx(gain, abs=5.1e-5)
        p = williams_matrix(table[0, 1:], table[1:, 1:], 96)
        if sizes[0] > sizes[1]:
            assert p[0, 1] == pytest.approx(goal, abs=5.1e-6)


def test_the_level_is_kept_where_two_metrics_agree_equally() -> None:
    # Three equicorrelated normal columns: the second and third correlate alike with the first.
    rng = np.random.default_rng(1)
    shape = np.linalg.cholesky(0.5 * np.eye(3) + 0.5)
    rows = rng.normal(size=(4000, 30, 3)) @ shape.T
    r = np.array([np.corrcoef(row, rowvar=False) for row in rows])
    p = williams(r[:, 0, 1], r[:, 0, 2], r[:, 1, 2], 30).p
    assert abs(np.mean(p <= 0.05) - 0.05) < 4 * (0.05 * 0.95 / 4000) ** 0.5


def test_swapping_the_metrics_turns_t_and_p_round() -> None:
    one, other = williams(0.7, 0.5, 0.4, 30), williams(0.5, 0.7, 0.4, 30)
    assert float(one.t) == pytest.approx(-float(other.t), abs=1e-14)
    assert float(one.p) + float(other.p) == pytest.approx(1.0, abs=1e-15)


def test_three_values_are_too_few() -> None:
    found = williams(np.array([0.9, 0.5]), 0.2, 0.1, 3)
    assert np.isnan(found.t).all()
    assert np.isnan(found.p).all()


@pytest.mark.parametrize("r", [(0.5, 0.5, 1.0), (0.9, -0.9, 0.9), (NAN, 0.5, 0.2)])
def test_without_a_positive_radicand_the_test_is_undefined(r: tuple[float, float, float]) -> None:
    assert np.isnan(williams(*r, 20).p)


def test_arrays_are_tested_element_by_element() -> None:
    r12, r13 = np.array([[0.6], [0.3]]), np.array([0.5, 0.2, 0.1])
    found = williams(r12, r13, 0.4, 25)
    assert found.p.shape == (2, 3)
    assert found.p[1, 2] == float(williams(0.3, 0.1, 0.4, 25).p)


WITH_GOLD = np.array([0.5, -0.7, 0.3])
BETWEEN = np.array([[1.0, -0.6, 0.2], [-0.6, 1.0, -0.1], [0.2, -0.1, 1.0]])


def test_a_negative_metric_is_turned_round_and_its_correlations_with_it() -> None:
    p = williams_matrix(WITH_GOLD, BETWEEN, 40)
    assert p[1, 0] == float(williams(0.7, 0.5, 0.6, 40).p)
    assert p[1, 2] == float(williams(0.7, 0.3, 0.1, 40).p)
    assert p[0, 2] == float(williams(0.5, 0.3, 0.2, 40).p)
    assert np.isnan(p[[0, 0, 2, 2, 1, 2], [0, 1, 0, 1, 1, 2]]).all()
    turned = np.array([1, -1, 1])
    same = williams_matrix(WITH_GOLD * turned, BETWEEN * np.outer(turned, turned), 40)
    assert np.array_equal(p, same, equal_nan=True)


def test_with_signs_a_negative_metric_is_beaten() -> None:
    p = williams_matrix(WITH_GOLD, BETWEEN, 40, absolute=False)
    assert p[0, 1] == float(williams(0.5, -0.7, -0.6, 40).p)
    assert np.isnan(p[1]).all()


def test_compat_has_the_slip_of_the_release() -> None:
    p = williams_matrix(WITH_GOLD, BETWEEN, 40, compat=True)
    # Row 1, column 0: the sign is still there, -1 · 1 · -0.6; column 2: it is lost, 1 · 1 · -0.1.
    assert p[1, 0] == float(williams(0.7, 0.5, 0.6, 40).p)
    assert p[1, 2] == float(williams(0.7, 0.3, -0.1, 40).p)
    # The larger stands first whichever is the row; a negative column keeps its own sign.
    assert p[0, 1] == float(williams(0.7, 0.5, 0.6, 40).p)
    assert p[2, 1] == float(williams(0.7, 0.3, 0.1, 40).p)
    assert np.diag(p).tolist() == [0.0, 0.0, 0.0]


def test_compat_stores_0_where_the_test_is_undefined() -> None:
    between = np.array([[1.0, 0.9], [0.9, 1.0]])
    assert np.isnan(williams_matrix(np.array([0.9, 0.2]), between, 10)).all()
    assert (williams_matrix(np.array([0.9, 0.2]), between, 10, compat=True) == 0).all()
