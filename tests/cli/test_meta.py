from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
KEYS = "metric aspect level coefficient value n undefined low high".split()
RATINGS = [3, 1, 4, 1, 5, 2, 5, 3, 4, 2]
METRIC = [0.3, 0.2, 0.4, 0.1, 0.4, 0.3, 0.6, 0.2, 0.5, 0.1]
LOSS = [9.0, 9.5, 8.0, 9.9, 7.0, 9.1, 6.0, 9.0, 7.5, 9.4]
# Five items, two systems: ten rows.
ROWS = [
    {"id": f"s{n}", "item": str(n // 2), "system": "ab"[n % 2], "stars": RATINGS[n]}
    | {"mine": METRIC[n], "loss": LOSS[n]}
    for n in range(10)
]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of one's own with ten rows."""
    return write(tmp_path / "mine.csv", ROWS)


@pytest.fixture
def said(fabula: Run, table: Path) -> Callable[..., str]:
    """What the command prints of the table; fails where it fails."""

    def say(*words: str) -> str:
        done = fabula("meta", table, "--gold", "stars", "--resamples", "50", "-q", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def rows_of(text: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(text)["rows"]
    return rows


def test_ten_rows_of_ones_own_work_and_say_that_n_is_too_small(said: Callable[..., str]) -> None:
    text = said()
    assert "n is too small at the pooled level: 10 stories" in " ".join(text.split())
    assert "n is too small at the item level: 5 items" in " ".join(text.split())
    assert "Spearman's ρ, pooled level" in text and "mine ↑" in text


def test_json_rows_have_the_keys_that_others_read(said: Callable[..., str]) -> None:
    rows = rows_of(said("-f", "json"))
    assert len(rows) == 2 * 3 * 3  # metrics × levels × coefficients
    assert all(list(row)[: len(KEYS)] == KEYS for row in rows)
    [one] = [
        row
        for row in rows
        if (row["metric"], row["level"], row["coefficient"]) == ("mine", "pooled", "kendall")
    ]
    # scipy 1.17.1
    assert one["value"] == pytest.approx(scipy.stats.kendalltau(METRIC, RATINGS).statistic)
    assert one["n"] == 10 and one["low"] <= one["value"] <= one["high"]  # type: ignore[operator]


def test_rows_without_items_and_systems_have_the_pooled_level(fabula: Run, tmp_path: Path) -> None:
    bare = [{key: row[key] for key in ("id", "stars", "mine")} for row in ROWS]
    write(tmp_path / "bare.csv", bare)
    done = fabula("meta", "bare.csv", "--gold", "stars", "-f", "json", "-q", "--resamples", "20")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = rows_of(done.stdout.decode())
    assert {row["level"] for row in rows} == {"pooled"} and len(rows) == 3
    words = " ".join(json.loads(done.stdout)["words"])
    assert "n is too small" in words and "only the pooled level is left" in words


def test_lower_is_turned_and_signs_can_be_left_or_dropped(said: Callable[..., str]) -> None:
    def value(*words: str) -> float:
        rows = rows_of(said("-f", "json", "-m", "loss", "--level", "pooled", *words))
        return float(rows[0]["value"])  # type: ignore[arg-type]

    plain = float(np.corrcoef(LOSS, RATINGS)[0, 1])
    assert plain < 0
    assert value("--lower", "loss") == pytest.approx(-plain)
    assert value("--lower", "loss", "--sign", "raw") == pytest.approx(plain)
    assert value("--sign", "absolute") == pytest.approx(-plain)


def test_levels_coefficients_and_metrics_can_be_chosen(said: Callable[..., str]) -> None:
    words = ("--level", "item", "--coefficient", "kendall_c", "-m", "mi*", "-a", "stars")
    [row] = rows_of(said("-f", "json", *words))
    assert [row[key] for key in KEYS[:4]] == ["mine", "stars", "item", "kendall_c"]


def test_the_same_seed_prints_the_same(said: Callable[..., str]) -> None:
    first, again, other = (said("-f", "csv", "--seed", seed) for seed in "112")
    assert first == again != other


@pytest.mark.parametrize("form", ["table", "csv", "jsonl", "latex"])
def test_every_format_has_every_metric(said: Callable[..., str], form: str) -> None:
    text = said("-f", form)
    assert "mine" in text and "loss" in text
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) == 18
    if form == "latex":
        assert text.count(r"\end{tabular}") == 3


def test_texts_bring_the_trivial_baselines_beside_the_metrics(fabula: Run, tmp_path: Path) -> None:
    told = [row | {"text": "One word and another. " * (n + 1)} for n, row in enumerate(ROWS)]
    write(tmp_path / "told.csv", told)
    words = ("meta", "told.csv", "--gold", "stars", "-q", "--resamples", "20")
    done = fabula(*words, "-f", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    metrics = {row["metric"] for row in rows_of(done.stdout.decode())}
    assert metrics == {"mine", "loss", "words", "unique_words", "word_length", "mattr"}
    without = fabula(*words, "-f", "json", "--no-baselines")
    assert {row["metric"] for row in rows_of(without.stdout.decode())} == {"mine", "loss"}


def test_a_run_is_held_against_a_table_of_ratings(fabula: Run, tmp_path: Path) -> None:
    assert fabula("score", "examples", "-m", "rouge", "-o", "run", "--no-report").returncode == 0
    ids = [
        json.loads(line)["id"]
        for line in (tmp_path / "run" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    ratings = [{"id": one, "stars": place % 5 + 1} for place, one in enumerate(ids)]
    write(tmp_path / "ratings.csv", ratings)
    done = fabula("meta", "run", "--gold", "ratings.csv", "-f", "json", "-q", "--resamples", "20")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "rouge recall" in {row["metric"] for row in rows_of(done.stdout.decode())}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gold", "starrs"), "starrs"),
        (("--gold", "stars", "-m", "mien"), "no scorer is called 'mien'"),
        (("--gold", "stars", "-a", "plot"), "no aspect is called 'plot'"),
        ((), "no ratings"),
        (("--gold", "stars", "--level", "story"), "story"),
    ],
)
def test_what_a_user_can_mend_is_said(
    fabula: Run, table: Path, words: tuple[str, ...], said: str
) -> None:
    done = fabula("meta", table, *words)
    assert done.returncode == 2 and not done.stdout
    assert said in done.stderr.decode() and "Traceback" not in done.stderr.decode()


def test_a_table_without_scores_of_metrics_says_so(fabula: Run, tmp_path: Path) -> None:
    write(tmp_path / "rated.csv", [{"id": row["id"], "stars": row["stars"]} for row in ROWS])
    done = fabula("meta", "rated.csv", "--gold", "stars")
    assert done.returncode == 2 and b"no scores" in done.stderr


def test_only_baselines_can_be_asked_for(fabula: Run, tmp_path: Path) -> None:
    told = [row | {"text": "One word. " * (n + 1)} for n, row in enumerate(ROWS)]
    write(tmp_path / "told.csv", told)
    done = fabula("meta", "told.csv", "--gold", "stars", "-m", "words", "-q", "--resamples", "20")
    assert (done.returncode, done.stderr) == (0, b"")


def test_progress_goes_to_stderr(fabula: Run, table: Path) -> None:
    done = fabula("meta", table, "--gold", "stars", "--resamples", "20", "-f", "json")
    assert done.returncode == 0 and rows_of(done.stdout.decode())


def test_three_metrics_beside_the_choices_of_a_data_set_are_as_counted_directly(
    fabula: Run, tmp_path: Path
) -> None:
    from fabula import load_dataset
    from fabula.text.words import words as words_of
    from fakes.release_samples import SAMPLES, put

    folder = put(tmp_path / "data", SAMPLES["storyer"])
    assert fabula("data", "add", "storyer", folder).returncode == 0
    texts = {
        story.id: story.text for story in load_dataset("storyer", folder, partial=True).stories
    }
    rows: list[dict[str, object]] = [{"id": name, "text": text} for name, text in texts.items()]
    write(tmp_path / "tales.csv", rows)
    specs = "words,unique_words,word_length"
    assert fabula("score", "tales.csv", "-m", specs, "-o", "run", "--no-report").returncode == 0
    done = fabula(
        "meta", "run", "--gold", "storyer", "--partial", "-f", "json", "--resamples", "20"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = {
        (row["metric"], row["coefficient"]): row["value"] for row in rows_of(done.stdout.decode())
    }
    pairs = load_dataset("storyer", folder, partial=True).preferences
    direct = {
        "words": lambda text: len(words_of(text)),
        "unique_words": lambda text: len({word.lower() for word in words_of(text)}),
        "word_length": lambda text: np.mean([len(word) for word in words_of(text)]),
    }
    for name, measure in direct.items():
        gaps = np.array([measure(texts[one.better]) - measure(texts[one.worse]) for one in pairs])
        assert found[name, "distance"] == pytest.approx(gaps.mean())
        assert found[name, "strict_accuracy"] == pytest.approx((gaps > 0).mean())
        accuracy = ((gaps > 0) + (gaps == 0) / 2).mean()
        assert found[name, "accuracy"] == pytest.approx(accuracy)


def test_a_run_is_held_against_a_table_of_choices(fabula: Run, tmp_path: Path) -> None:
    assert fabula("score", "examples", "-m", "words", "-o", "run", "--no-report").returncode == 0
    lines = (tmp_path / "run" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    longest, shortest = (
        choose(stories, key=lambda story: len(story["text"].split())) for choose in (max, min)
    )
    rows: list[dict[str, object]] = [
        {"chosen": longest["text"], "rejected": shortest["text"], "rater": "ann"},
        {"chosen": shortest["id"], "rejected": longest["id"], "rater": "bob"},
    ]
    write(tmp_path / "choices.csv", rows)
    done = fabula("meta", "run", "--gold", "choices.csv", "-f", "json", "-q", "--no-baselines")
    assert (done.returncode, done.stderr) == (0, b"")
    found = {row["coefficient"]: row for row in rows_of(done.stdout.decode())}
    assert found["accuracy"]["value"] == 0.5 and found["distance"]["value"] == 0
    assert found["accuracy"]["n"] == 2
    unknown = fabula("meta", "run", "--gold", "hana")
    assert unknown.returncode == 2
    refused = fabula("meta", "run", "--gold", "choices.csv", "-o", "report")
    assert refused.returncode == 2 and b"this gold is choices" in refused.stderr
