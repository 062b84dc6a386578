"""Weights measured on any sets: a tiny joint training, and made-up files in the release's forms."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.replication.storyer.evaluated_sets import (
    name_sets,
    open_all,
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
from fabula.replication.storyer.comments import explain_overlaps  # noqa: E402
from fabula.replication.storyer.evaluated_comments import comment_tables  # noqa: E402
from fabula.replication.storyer.evaluated_weights import (  # noqa: E402
    check_weights,
    name_weights,
)
from fabula.replication.storyer.evaluation import (  # noqa: E402
    HowEvaluated,
    Weights,
    evaluate_weights,
)
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
    (tmp_path / "liked.csv").write_text("prompt,better,worse\nP,A tale.,Another.\n")
    assert open_sets(str(tmp_path / "liked.csv"))[0].counts["pairs"] == 1
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


def test_pairs_on_one_prompt_may_be_of_several_genres_and_what_is_odd_is_remarked(
    tmp_path: Path,
) -> None:
    told = [
        (BETTER[0], WORSE[0], "sea"), (BETTER[1], WORSE[1], "pets"), (BETTER[2], WORSE[1], "sea"),
        (BETTER[0], WORSE[0], "sea"),
    ]  # fmt: skip
    rows = [pair("[WP] A door.", better, worse) | {"genre": of} for better, worse, of in told]
    (tmp_path / "pairs.jsonl").write_text(lines(*rows), encoding="utf-8")
    [one] = open_all([str(tmp_path / "pairs.jsonl")], "genre")
    systems = {story.text: story.system for story in one.dataset.stories}
    assert [systems[text] for text in BETTER[:3]] == ["sea", "pets", "sea"]
    assert [systems[text] for text in WORSE[:2]] == ["sea", None]
    assert list(one.remarks) == [
        "Left out: 1 pair that came before.",
        "1 story in rows of several values of genre: parted as none of them.",
    ]


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
    assert recalls["as many drawn by lot °"][:3] == [0.1, 0.3, 0.5]
    said = rows_of(findings, "comments_")
    assert said["tiny"][0].value > 1 and said["tiny"][-1] == 5


def test_notes_about_a_post_change_no_figure_of_weights_that_learned_without_them(
    place: Path, tmp_path: Path
) -> None:
    note = "\n\nEdit: thanks for the gold!"
    pairs = [pair(f"[WP] Prompt {n}", BETTER[n] + note, WORSE[n]) for n in range(4)]
    (tmp_path / "pairs.jsonl").write_text(lines(*pairs), encoding="utf-8")
    rated = json.loads((place / "rated.json").read_text(encoding="utf-8"))
    noted = [row | {"story": row["story"] + note} for row in rated]
    (tmp_path / "rated.json").write_text(json.dumps(noted), encoding="utf-8")
    tables = []
    with one_thread():
        for folder in (place, tmp_path):
            sets = [open_sets(str(folder / name))[0] for name in ("pairs.jsonl", "rated.json")]
            how = HowEvaluated(5)
            found = evaluate_weights([str(place / "tiny")], sets, Material(resamples=20), how)
            names = ("pairs_", "aspects_", "comments_")
            tables.append([rows_of(found, name)["tiny"] for name in names])
    assert tables[0] == tables[1]


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


def test_an_overlap_that_lacks_its_files_says_which(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_ASSETS", str(tmp_path))
    story = Story("1", "A cat sat.", references=("A cat sat.",))
    said = explain_overlaps([story])
    assert said.startswith(" No METEOR: ") and "wordnet" in said and "BLEU" not in said
    assert explain_overlaps([]) == ""
    with one_thread():
        [rated] = open_sets(str(place / "rated.json"))
        weights, material = [Weights(str(place / "tiny"))], Material(resamples=20)
        [table] = comment_tables(weights, rated, material, HowEvaluated(2))
    assert table.note.endswith(said)


def test_what_weights_lack_is_missing_and_said(place: Path, tmp_path: Path) -> None:
    with one_thread():
        recipe = joint_recipe(place / "led", epochs=1.0, aspects=False, comments=False)
        out = tmp_path / "ranks"
        train_joint(recipe, made_up_data(), out=out, device="cpu", report=lambda line: None)
        sets = open_sets(str(place / "rated.json"))
        [finding, _] = evaluate_weights([str(out)], sets, Material(resamples=20), HowEvaluated(3))
    assert np.isnan(rows_of([finding], "aspects_")["ranks"][0].value)
    said = " ".join(finding.words)
    assert "ranks: no ratings of aspects: the weights" in said and "have not learned it" in said
    assert "ranks: no confidences: " in said and "without comments" in said


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        (["out/led", "reader"], ["led", "reader"]),
        (["a/seed-1", "b/seed-1", "c/led"], ["a/seed-1", "b/seed-1", "led"]),
        (["/x/a/1", "/y/a/1", "/y/b/1"], ["x/a/1", "y/a/1", "b/1"]),
        (["reader", "runs/reader"], ["reader", "runs/reader"]),
        (["a/led", "/a/led"], ["a/led", "/a/led"]),
        (["a/led", "a/./led", "a/led"], ["a/led", "a/./led"]),
        (["."], ["."]),
    ],
)
def test_weights_are_called_by_as_much_of_their_path_as_tells_them_apart(specs, names) -> None:
    assert list(name_weights(specs).values()) == names


def test_weights_whose_folders_are_called_alike_have_rows_of_their_own(
    place: Path, tmp_path: Path
) -> None:
    with one_thread():
        for name, epochs in (("a", 1.0), ("b", 3.0)):
            out, recipe = tmp_path / name / "seed-1", joint_recipe(place / "led", epochs=epochs)
            train_joint(recipe, made_up_data(), out=out, device="cpu", report=lambda line: None)
        specs = [str(tmp_path / name / "seed-1") for name in "ab"]
        sets = [open_sets(str(place / name))[0] for name in ("pairs.jsonl", "rated.json")]
        how = HowEvaluated(2)
        together = evaluate_weights(specs, sets, Material(resamples=20), how)
        alone = [evaluate_weights([one], sets, Material(resamples=20), how) for one in specs]
    for table in ("pairs_", "aspects_", "comments_"):
        rows = rows_of(together, table)
        for name, one in zip("ab", alone, strict=True):
            assert rows[f"{name}/seed-1"] == rows_of(one, table)["seed-1"]
    first, second = (rows_of(together, "pairs_")[f"{name}/seed-1"][1].value for name in "ab")
    assert first != second
    [means] = [one.tables[0] for one in together if one.analysis == "means"]
    assert means.columns == ("stories", "a/seed-1", "b/seed-1", "n")


def test_weights_without_comments_leave_those_of_others_in_the_table(
    place: Path, tmp_path: Path
) -> None:
    with one_thread():
        recipe = joint_recipe(place / "led", epochs=1.0, comments=False)
        out = tmp_path / "silent"
        train_joint(recipe, made_up_data(), out=out, device="cpu", report=lambda line: None)
        sets = open_sets(str(place / "rated.json"))
        specs = [str(out), str(place / "tiny")]
        [finding, _] = evaluate_weights(specs, sets, Material(resamples=20), HowEvaluated(3))
    rows = rows_of([finding], "comments_")
    assert rows["silent"] == [None] * 5 + [0]
    assert rows["tiny"][0].value > 1 and rows["tiny"][-1] == 3
    [said] = [line for line in finding.words if line.startswith("silent: ")]
    assert "without comments" in said


def test_a_folder_that_is_no_model_is_refused_before_anything_is_computed(
    place: Path, tmp_path: Path
) -> None:
    reported: list[str] = []
    material = Material(resamples=20, report=reported.append)
    sets = open_sets(str(place / "pairs.jsonl"))
    with pytest.raises(InputError, match=r"holds no reader: .* reader\.json nor joint\.json"):
        evaluate_weights([str(place / "tiny"), str(tmp_path)], sets, material)
    for name in ("seed-10", "seed-2", "notes"):
        (tmp_path / name).mkdir()
    for name in ("seed-10", "seed-2"):
        (tmp_path / name / "joint.json").write_text("{}")
    named = f"name one: {tmp_path / 'seed-2'}, {tmp_path / 'seed-10'}$"
    with pytest.raises(InputError, match=named):
        check_weights(str(tmp_path))
    with pytest.raises(InputError, match=r"joint\.json"):  # a model that is damaged
        evaluate_weights([str(tmp_path / "seed-2")], sets, material)
    assert not reported


def test_a_set_that_cannot_be_split_says_so_and_has_no_rows_by_part(
    place: Path, tmp_path: Path
) -> None:
    rows = [
        pair(f"[WP] Prompt {n}", BETTER[n], WORSE[n]) | {"genre": "sea" if n % 2 else "pets"}
        for n in range(4)
    ]
    (tmp_path / "by_genre.jsonl").write_text(lines(*rows), encoding="utf-8")
    (tmp_path / "own.csv").write_text("id,text,model,human:ann\n1,A tale.,x,3\n2,Another.,y,4\n")
    names = ("by_genre.jsonl", "own.csv")
    sources = [str(place / "pairs.jsonl"), str(place / "two.hundred.pkl")]
    opened = open_all([*sources, *(str(tmp_path / name) for name in names)], "genre")
    assert [one.parted for one in opened] == [False, False, True, False]
    assert [list(one.remarks) for one in opened] == [
        ["Not split by genre: no such column (it has prompt, good, poor, c3, c4)."],
        ["Not split by genre: no such column (nothing in it parts stories)."],
        [],
        ["Not split by genre: no such column (it has id, text, model, human:ann)."],
    ]
    how = HowEvaluated(
        0,
        "genre",
        whole={one.dataset.name for one in opened if not one.parted},
        remarks={one.dataset.name: one.remarks for one in opened},
    )
    with one_thread():
        sets = [one.dataset for one in opened]
        findings = evaluate_weights([str(place / "tiny")], sets, Material(resamples=20), how)
    assert [any("Not split" in line for line in one.words) for one in findings] == [
        True, True, False, True, False,
    ]  # fmt: skip
    assert rows_of(findings, "genres_by_genre").keys() == {"sea", "pets"}
    # Its systems are no genres.
    assert not any("alone" in name for name in rows_of(findings, "ratings_own"))
    with pytest.raises(SettingError, match=r"--by genr: no set .* did you mean 'genre'"):
        open_all([str(tmp_path / name) for name in names], "genr")
    with pytest.raises(SettingError, match="--by genre: no set has such a column"):
        open_all([str(place / "two.hundred.pkl")], "genre")


def test_a_table_without_ratings_says_how_to_name_them(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("text,stars\nA tale.,3\nAnother.,4\n")
    (tmp_path / "texts.csv").write_text("text\nA third.\n")
    sources = [str(tmp_path / name) for name in ("own.csv", "texts.csv")]
    for one in open_all(sources):
        assert not len(one.dataset.ratings) and "--gold NAME" in " ".join(one.remarks)
    own, texts = open_all(sources, gold=("stars",))
    assert [score.value for score in own.dataset.ratings] == [3.0, 4.0] and not own.remarks
    assert "No ratings by people were found" in texts.remarks[0]
    with pytest.raises(SettingError, match=r"--gold star: no table .* did you mean 'stars'"):
        open_all(sources, gold=("star",))
    (tmp_path / "two.csv").write_text("text,fun:ann,fun:bob\nA tale.,3,4\nAnother.,4,4\n")
    [two] = open_all([str(tmp_path / "two.csv")], gold=("fun",))
    assert len(two.dataset.ratings) == 4
    (tmp_path / "long.csv").write_text(
        "story,scorer,value,text\na,ann,3,A tale.\na,bleu,1,A tale.\n"
    )
    [long] = open_all([str(tmp_path / "long.csv")], gold=("ann",))
    assert [score.value for score in long.dataset.ratings] == [3.0]


def test_the_printed_table_has_every_model_on_every_set() -> None:
    assert len(TABLE_3) == 7
    assert {len(row.sets) for row in TABLE_3.values()} == {4}
    assert TABLE_3["StoryER (N)"].sets["COH200"] == (0.747, 0.536)
