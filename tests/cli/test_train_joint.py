"""`fabula train storyer` on a backbone, as a user would: train, average, score, review."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fakes.tiny_joint import BETTER, COMMENTS, WORSE, one_thread, save_led

pytest.importorskip("torch")
pytest.importorskip("transformers")

RECIPE = """
backbone = "HERE/led"
pairs = ["HERE/pairs.pkl"]
items = ["HERE/ratings.json"]
max_tokens = 48
comment_tokens = 16
rows = 2
rate = 0.01
epochs = 1.0
held_out = 0.3
evaluate_every = 1
"""


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backbone, a recipe, and pairs and ratings in the form of StoryER's release."""
    place = tmp_path_factory.mktemp("joint")
    save_led(place / "led")
    pairs = [
        [f"[WP] Prompt {n}", f"{n}. {BETTER[n % 4]}", f"{n}. {WORSE[n % 4]}", 1, 1]
        for n in range(6)
    ]
    (place / "pairs.pkl").write_bytes(pickle.dumps(pairs))
    ratings = [
        {
            "story": f"{n}. {BETTER[n % 4]}", "score": n, "prompt": f"[WP] Prompt {n}",
            "comments": [[1 + n, 1 + n % 5, COMMENTS[n % 3]], *[[-1, -1, None]] * 4],
        }
        for n in range(6)
    ]  # fmt: skip
    (place / "ratings.json").write_text(json.dumps(ratings))
    (place / "recipe.toml").write_text(RECIPE.replace("HERE", str(place)))
    return place


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)])


def train(folder: Path, out: Path, *more: str | Path) -> Result:
    asked = ["train", "storyer", "--recipe", folder / "recipe.toml"]
    return run(*asked, "--device", "cpu", "-q", "-o", out, *more)


def test_seeds_are_averaged_and_the_best_is_named(folder, tmp_path):
    done = train(folder, tmp_path / "out", "--seeds", "2")
    assert done.exit_code == 0, done.output
    assert "mean of 2 seeds ± standard deviation" in done.stderr
    assert "accuracy" in done.stderr and "recall@3 of aspects" in done.stderr
    assert "accuracy of seed 2: " in done.stderr and " pairs of 2 prompts" in done.stderr
    spec = done.stdout.strip().splitlines()[-1]
    assert spec.startswith(f"storyer(weights='{tmp_path / 'out' / 'seed-'}")


def test_pairs_and_ratings_are_read_by_path_and_what_is_odd_of_them_is_said(folder, tmp_path):
    release = tmp_path / "release"
    release.mkdir()
    pairs = pickle.loads((folder / "pairs.pkl").read_bytes())
    for name, some in (("train_rank", [*pairs[:4], pairs[0]]), ("test_rank", pairs[4:])):
        (release / f"{name}.pkl").write_bytes(pickle.dumps(some))
    shutil.copy(folder / "ratings.json", release / "train_rate_reason.json")
    rows = [dict(zip(("prompt", "better", "worse"), pair, strict=False)) for pair in pairs]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    digests = []
    for name in (release, tmp_path / "own.jsonl", tmp_path / "none.jsonl"):
        text = RECIPE.replace("HERE/pairs.pkl", str(name)).replace(
            "HERE/ratings.json", str(release)
        )
        recipe = tmp_path / "recipe.toml"
        recipe.write_text(text.replace("HERE", str(folder)))
        out = tmp_path / f"of {name.name}"
        done = run("train", "storyer", "--recipe", recipe, "--device", "cpu", "-o", out)
        if done.exit_code == 0:
            digests.append(json.loads((out / "training.json").read_text())["data"])
            is_said = f"{name}: Left out: 1 pair that came before." in done.stderr
            assert is_said == (name == release)
    assert digests[0] == digests[1] and len(digests) == 2
    assert digests[0]["pairs"] == digests[0]["items"] == 6
    assert f"{tmp_path / 'none.jsonl'}: no such file" in str(done.exception)
    assert not out.exists()


def test_pairs_and_ratings_of_several_paths_are_learned_once(folder, tmp_path):
    pairs = pickle.loads((folder / "pairs.pkl").read_bytes())
    rows = [dict(zip(("prompt", "better", "worse"), pair, strict=False)) for pair in pairs]
    # Two of them again, one the other way round, and one with a note that the cleaning drops.
    turned = rows[2] | {"better": rows[2]["worse"], "worse": rows[2]["better"]}
    noted = rows[1] | {"better": rows[1]["better"] + "\n\nEdit: thanks for the gold!"}
    (tmp_path / "more.jsonl").write_text("\n".join(map(json.dumps, [rows[0], noted, turned])))
    recipe = tmp_path / "recipe.toml"
    both = f'"{folder / "pairs.pkl"}", "{tmp_path / "more.jsonl"}"'
    text = RECIPE.replace('"HERE/pairs.pkl"', both)
    # The file of ratings with two more, and once again by itself.
    ratings = json.loads((folder / "ratings.json").read_text())
    new = [row | {"comments": [[10, 2, "x"], *[[-1, -1, None]] * 4]} for row in ratings[:2]]
    (tmp_path / "more.json").write_text(json.dumps([*ratings[:3], *new]))
    rated = f'"{folder / "ratings.json"}", "{tmp_path / "more.json"}"'
    text = text.replace('"HERE/ratings.json"', rated)
    recipe.write_text(text.replace("HERE", str(folder)))
    out = tmp_path / "out"
    done = run("train", "storyer", "--recipe", recipe, "--device", "cpu", "-o", out)
    assert done.exit_code == 0, done.exception
    assert f"{tmp_path / 'more.jsonl'}: Left out: 2 pairs of a path before." in done.stderr
    assert f"{tmp_path / 'more.json'}: Left out: 3 rated comments of a path before." in done.stderr
    data = json.loads((out / "training.json").read_text())["data"]
    assert (data["pairs"], data["items"]) == (len(pairs) + 1, len(ratings) + 2)


TALE = (
    "The old sailor saw a light at sea. But she said never again, and the night ran away. "
    "“Home,” said the sailor, and wept. They went home in winter, and the light went out."
)


@pytest.fixture(scope="module")
def trained(folder: Path) -> Path:
    """What one training left, and a story to read."""
    done = train(folder, folder / "out")
    assert done.exit_code == 0, done.output
    (folder / "tale.txt").write_text(TALE)
    return folder / "out"


def review(trained: Path, *more: str) -> Result:
    asked = ["review", trained.parent / "tale.txt", "--weights", trained, "--order", "fake"]
    return run(*asked, "--no-cache", "-q", *more)


def test_a_review_by_a_joint_model_shows_its_five_surest_aspects(trained):
    plain = json.loads(review(trained, "-f", "json", "--comments", "raw").stdout)
    sure = sorted(plain["aspects"], key=lambda aspect: -aspect["confidence"])[:5]
    assert plain["spoken"] == [aspect["name"] for aspect in sure]
    assert all(1 <= aspect["rating"] <= 5 for aspect in sure)
    assert sum(aspect["confidence"] for aspect in plain["aspects"]) == pytest.approx(1)
    said = {aspect["name"] for aspect in plain["aspects"] if aspect["comment"]}
    # A decoder that learned two steps may have nothing to say of one or the other.
    assert said and said <= {*plain["spoken"]}
    assert {aspect["by"] for aspect in sure if aspect["comment"]} == {"raw"}
    assert 0 < plain["preference"] < 1
    missing = {lack["part"]: lack["why"] for lack in plain["missing"]}
    assert "have not learned it; they tell: preference, aspects, confidence" in missing["criteria"]
    assert any("on held-out prompts" in note for note in plain["notes"])


def test_comments_of_a_joint_model_are_checked_unless_they_are_wanted_raw(trained):
    checked = json.loads(review(trained, "-f", "json").stdout)
    said = [aspect for aspect in checked["aspects"] if aspect["comment"]]
    # Two steps teach no English: what it says does not pass, and comments are composed.
    assert said and {aspect["by"] for aspect in said} == {"composed"}
    text = review(trained, "--comments", "none").stdout
    for name in ("No criteria", "% of what readers would speak of"):
        assert name in text
    raw = review(trained, "--comments", "raw").stdout
    assert "the model’s own words, unchecked" in raw
    for form in ("md", "html"):
        assert review(trained, "-f", form, "--comments", "raw").exit_code == 0
    refused = review(trained, "--comments", "raw", "--writer", "fake()")
    assert "no folder of a joint training" in str(refused.exception)


def test_metrics_and_rankings_read_the_folder_that_was_trained(trained, tmp_path):
    table = tmp_path / "stories.jsonl"
    rows = [{"id": str(n), "text": text} for n, text in enumerate([*BETTER, *WORSE])]
    table.write_text("\n".join(map(json.dumps, rows)))
    done = run(
        "score", table, "-m", f"storyer(weights='{trained}')",
        "-m", f"aspects(weights='{trained}')", "-o", tmp_path / "run", "--no-cache", "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    ranked = run("review", table, "--weights", trained, "--no-cache", "-q", "-f", "json")
    assert ranked.exit_code == 0, ranked.output


def test_the_folder_is_measured_in_the_papers_tables(trained):
    asked = ["train", "storyer", "--evaluate", trained, "--on", trained.parent / "pairs.pkl"]
    done = run(*asked, "--on", trained.parent / "ratings.json", "-f", "json", "-q")
    assert done.exit_code == 0, done.output
    assert "accuracy" in done.stdout


def test_weights_that_know_nothing_of_a_part_are_refused_where_it_is_all(trained, tmp_path):
    about = json.loads((trained / "joint.json").read_text())
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "joint.json").write_text(json.dumps(about | {"heads": ["aspects"], "comments": False}))
    plain = json.loads(review_by(copy, trained, "-f", "json"))
    missing = {lack["part"] for lack in plain["missing"]}
    assert {"storyer", "criteria", "confidence"} <= missing
    assert plain["preference"] is None and plain["spoken"] == []
    done = run("review", trained.parent / "tale.txt", "--weights", copy, "--comments", "raw")
    assert f"{copy} was trained without comments" in str(done.exception)
    done = run("review", trained.parent / "tale.txt", "--weights", tmp_path)
    assert f"name one: {copy}" in str(done.exception)
    (copy / "joint.json").write_text(json.dumps(about | {"heads": [], "comments": True}))
    done = run("review", trained.parent / "tale.txt", "--weights", copy, "--order", "fake", "-q")
    assert "have not learned it" in str(done.exception)


def review_by(weights: Path, trained: Path, *more: str) -> str:
    asked = ["review", trained.parent / "tale.txt", "--weights", weights, "--order", "fake"]
    done = run(*asked, "--no-cache", "-q", *more)
    assert done.exit_code == 0, done.output
    return done.stdout
