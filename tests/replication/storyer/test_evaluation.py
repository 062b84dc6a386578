"""Weights measured on any sets: a tiny joint training, and made-up files in the release's forms."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.replication.storyer.evaluated_sets import (
    name_sets,
    open_sets,
    part_stories,
)
from fabula.replication.storyer.printed import TABLE_3
from fakes.release_samples import lines, pair, submission

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fabula.learned.joint.config import comment_input  # noqa: E402
from fabula.learned.joint.network import open_writer  # noqa: E402
from fabula.learned.storyer import Storyer  # noqa: E402
from fabula.learned.training.joint import train_joint  # noqa: E402
from fabula.replication.storyer.evaluation import HowEvaluated, evaluate_weights  # noqa: E402
from fabula.replication.storyer.material import Material  # noqa: E402
from fakes.tiny_joint import (  # noqa: E402
    BETTER,
    WORSE,
    joint_recipe,
    made_up_data,
    one_thread,
    save_led,
)

COMMENT = "The light at sea!"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with weights, pairs, rated comments and a correlation set."""
    folder = tmp_path_factory.mktemp("evaluated")
    with one_thread():
        recipe = joint_recipe(save_led(folder / "led"), epochs=2.0)
        train_joint(
            recipe, made_up_data(), out=folder / "tiny", device="cpu", report=lambda line: None
        )
        pairs = [pair(f"[WP] Prompt {n}", BETTER[n], WORSE[n]) for n in range(4)]
        (folder / "pairs.jsonl").write_text(lines(*pairs), encoding="utf-8")
        rated = [
            submission(
                text, 1.0, [1, 4, COMMENT], [3, n + 1, "They never went home."], prompt=f"{n}"
            )
            for n, text in enumerate(BETTER)
        ]
        (folder / "rated.json").write_text(json.dumps(rated), encoding="utf-8")
        told = [(text, n / 8) for n, text in enumerate([*BETTER, *WORSE])]
        (folder / "two.hundred.pkl").write_bytes(pickle.dumps(told))
        yield folder


def rows_of(findings, name: str) -> dict[str, list[Any]]:
    [table] = [t for one in findings for t in one.tables if t.name.startswith(name)]
    return {str(row[0]): list(row[1:]) for row in table.rows}


def test_files_are_told_by_what_they_hold(place: Path, tmp_path: Path) -> None:
    counts = [open_sets(str(place / name))[0].counts for name in ("pairs.jsonl", "rated.json")]
    assert (counts[0]["pairs"], counts[1]["ratings"]) == (4, 8)
    [told] = open_sets(str(place / "two.hundred.pkl"))
    assert told.name == "two" and len(told.ratings) == 8
    own = tmp_path / "mine.csv"
    own.write_text("id,text,human:ann:fun\n1,A tale.,3\n2,Another.,4\n")
    assert len(open_sets(str(own))[0].ratings) == 2
    with pytest.raises(InputError, match=r"nothing\.csv: no such file or data set"):
        open_sets("nothing.csv")
    both = name_sets([told, told])
    assert [one.name for one in both] == ["two", "two (2)"]


def test_stories_are_parted_by_liking_by_system_or_by_a_column(place: Path, tmp_path: Path) -> None:
    [pairs] = open_sets(str(place / "pairs.jsonl"))
    parts = part_stories(pairs)
    assert [story.text for story in parts["pairs, liked"]] == list(BETTER)
    assert list(parts) == ["pairs, liked", "pairs, disliked"]
    table = tmp_path / "genres.csv"
    table.write_text("text,genre\nA ghost.,horror\nA kiss.,romance\nA grave.,horror\n")
    [genres] = open_sets(str(table), "genre")
    assert {name: len(stories) for name, stories in part_stories(genres).items()} == {
        "genres, horror": 2,
        "genres, romance": 1,
    }
    empty = tmp_path / "empty.csv"
    empty.write_text("genre,stars\nhorror,3\n")
    with pytest.raises(InputError, match="no texts to read"):
        open_sets(str(empty), "genre")


def test_pairs_and_ratings_are_measured_genre_by_genre(place: Path, tmp_path: Path) -> None:
    rows = [
        pair(f"[WP] Prompt {n}", BETTER[n], WORSE[n]) | {"genre": "sea" if n % 2 else "pets"}
        for n in range(4)
    ]
    (tmp_path / "pairs.jsonl").write_text(lines(*rows), encoding="utf-8")
    told = [f'{n},"{text}",{"sea" if n % 2 else "pets"},{n}' for n, text in enumerate(BETTER)]
    (tmp_path / "own.csv").write_text("\n".join(["id,text,genre,human:ann:fun", *told]))
    sets = [open_sets(str(tmp_path / name), "genre")[0] for name in ("pairs.jsonl", "own.csv")]
    with one_thread():
        how = HowEvaluated(0, "genre")
        findings = evaluate_weights([str(place / "tiny")], sets, Material(resamples=20), how)
    whole = rows_of(findings, "pairs_pairs")["tiny"][0].value
    by_genre = rows_of(findings, "genres_pairs")
    assert by_genre["sea"][-1] == by_genre["pets"][-1] == 2
    assert (by_genre["sea"][0].value + by_genre["pets"][0].value) / 2 == pytest.approx(whole)
    assert rows_of(findings, "ratings_own")["tiny, sea alone"][-1] == 2
    assert {"pairs, sea, liked", "own, pets"} <= rows_of(findings, "means").keys()


def test_the_figures_are_those_of_the_metric_counted_by_hand(place: Path) -> None:
    folder = str(place / "tiny")
    sets = [open_sets(str(place / name))[0] for name in ("pairs.jsonl", "two.hundred.pkl")]
    with one_thread():
        findings = evaluate_weights([folder], sets, Material(resamples=20), HowEvaluated(0))
        stories = [Story(f"{n}", text) for n, text in enumerate([*BETTER, *WORSE])]
        scores = Storyer(weights=folder).score(stories)
    values = np.array([score.value for score in scores if score.aspect == ""])
    gaps = values[:4] - values[4:]
    accuracy, distance, count = rows_of(findings, "pairs_")["tiny"]
    assert accuracy.value == (gaps > 0).mean() and distance.value == pytest.approx(gaps.mean())
    assert count == 4
    # ρ by hand: ranks of the values against 0 … 7.
    ranks = values.argsort().argsort()
    rho = 1 - 6 * ((ranks - np.arange(8)) ** 2).sum() / (8 * 63)
    assert rows_of(findings, "ratings_")["tiny"][0].value == pytest.approx(rho)
    means = rows_of(findings, "means")
    assert means["pairs, liked"][0].value == pytest.approx(values[:4].mean())
    assert rows_of(findings, "pairs_")["StoryER, printed"][:2] == pytest.approx([0.7393, 0.228])


def test_aspects_and_comments_of_a_joint_training_are_measured(place: Path) -> None:
    folder = str(place / "tiny")
    with one_thread():
        findings = evaluate_weights(
            [folder], open_sets(str(place / "rated.json")), Material(resamples=20), HowEvaluated(5)
        )
    recalls = rows_of(findings, "aspects_")
    at = [cell.value for cell in recalls["tiny"][:3]]
    assert 0 <= at[0] <= at[1] <= at[2] <= 1
    # All stories are spoken of in the same two aspects: the commonest are always right.
    prior = [cell.value for cell in recalls["prior: the commonest aspects °"][:3]]
    assert prior == [0.5, 1.0, 1.0]
    said = rows_of(findings, "comments_")
    assert said["tiny"][0].value > 1 and said["tiny"][-1] == 5


def test_the_logs_of_a_comment_add_up_to_transformers_loss(place: Path) -> None:
    with one_thread():
        writer = open_writer(place / "tiny")
        prompt = comment_input(BETTER[0], "ending")
        [logs] = writer.comment_logs([prompt], [COMMENT])
        network = writer.network
        [ids] = network.tokenise_rows([COMMENT], 32)
        given = network.encoder_inputs(network.tokenise_rows([prompt], writer.config.max_tokens))
        with torch.inference_mode():
            loss = network.net(**given, labels=torch.tensor([ids])).loss
    assert len(logs) == len(ids)
    assert -logs.mean() == pytest.approx(float(loss), abs=1e-5)


def test_what_weights_lack_is_missing_and_said(place: Path, tmp_path: Path) -> None:
    with one_thread():
        recipe = joint_recipe(place / "led", epochs=1.0, aspects=False, comments=False)
        out = tmp_path / "ranks"
        train_joint(recipe, made_up_data(), out=out, device="cpu", report=lambda line: None)
        sets = open_sets(str(place / "rated.json"))
        [finding, _] = evaluate_weights([str(out)], sets, Material(resamples=20), HowEvaluated(3))
    assert np.isnan(rows_of([finding], "aspects_")["ranks"][0].value)
    said = " ".join(finding.words)
    assert "ranks: " in said and "aspects" in said and "without comments" in said


def test_the_printed_table_has_every_model_on_every_set() -> None:
    assert len(TABLE_3) == 7
    assert {len(row.sets) for row in TABLE_3.values()} == {4}
    assert TABLE_3["StoryER (N)"].sets["COH200"] == (0.747, 0.536)
