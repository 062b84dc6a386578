from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fabula.core.errors import UserError
from fakes.planted_topics import THEMES, plant_stories, write_vectors

PLAIN = ("--no-lemmas", "--topics", "4", "--seeds", "2", "--resamples", "20")


def run(*words: str) -> Result:
    """Run the command in this process, where packages are loaded once."""
    return CliRunner().invoke(cli, ["topics", *words])


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A file of stories and the spec of their word vectors, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps({"id": story.id, "text": story.text, "system": story.system})
        for story in plant_stories()
    ]
    (tmp_path / "stories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    vectors = write_vectors(tmp_path / "vectors.txt")
    return ("stories.jsonl", "--vectors", f"word_vectors('{vectors}')", *PLAIN)


def test_topics_worlds_and_lda_are_printed_and_written(planted, tmp_path):
    done = run(*planted, "--lda", "-f", "json", "-o", "out", "-q")
    assert done.exit_code == 0, done.exception
    assert done.stderr == ""
    found = json.loads(done.stdout)
    named = {frozenset(row["words"].split(", ")[:8]) for row in found["rows"]}
    assert named == {frozenset(theme.split()) for theme in THEMES}
    assert [one["method"] for one in found["methods"]] == ["dictionary", "lda"]
    assert {row["world"] for row in found["worlds"]} == {"world 0", "world 1"}
    # Each theme belongs to one of two worlds, where it is twice as frequent as in all.
    best = [row for row in found["worlds"] if row["share"]]
    assert all(row["importance"]["value"] == pytest.approx(2, rel=1e-3) for row in best)
    assert (tmp_path / "out" / "study.html").is_file()
    again = run(*planted, "-o", "out", "-q")
    assert again.exit_code == 0  # our own page may be written again


def test_parts_of_stories_have_transitions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    themes = [theme.split() for theme in THEMES]
    lines = []
    draw = random.Random(2)
    for number in range(80):
        first, second = (draw.choices(themes[(number + n) % 4], k=3) for n in (0, 1))
        text = f"We saw {' and '.join(first)}. Then {' and '.join(second)} came."
        lines.append(json.dumps({"id": str(number), "text": text}))
    (tmp_path / "stories.jsonl").write_text("\n".join(lines), encoding="utf-8")
    vectors = f"word_vectors('{write_vectors(tmp_path / 'vectors.txt')}')"
    words = ("stories.jsonl", "--vectors", vectors, "--unit", "sentence", *PLAIN)
    found = json.loads(run(*words, "-f", "json", "-q").stdout)
    # Every theme is followed by the next one and by nothing else.
    assert len(found["transitions"]) == 4
    assert {row["share"] for row in found["transitions"]} == {1.0}


def test_games_of_ours_are_read_by_name(tmp_path):
    vectors = tmp_path / "v.txt"
    words = "light lamp water door bell tower letter garden ship bridge city voice hand".split()
    vectors.write_text("\n".join(f"{w} {n % 3} {n % 5} {n % 2}" for n, w in enumerate(words)))
    spec = f"word_vectors('{vectors}')"
    done = run("storium_samples", "--games", "--vectors", spec, *PLAIN)
    assert done.exit_code == 0, done.exception
    assert "Vell" in done.stdout and "is followed by" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--leave-out", "9"), "there is no topic 9; name topics from 1 to 4"),
        (("--leave-out", "a"), "--leave-out 'a' does not name topics; write their numbers"),
        (("--topics", "100"), "160 passages are too few for 100 topics"),
        (("--least", "500"), "0 words frequent enough to name a topic in 160 passages"),
        (("--games",), "stories.jsonl"),
        (("--games", "--unit", "sentence"), "--unit and --world are for stories"),
        (("--vectors", "word_vectors('no.txt')"), "no.txt cannot be read"),
    ],
    ids=["unknown topic", "no number", "too many topics", "rare", "no games", "unit", "no vectors"],
)
def test_what_will_not_do_is_said(planted, words, said):
    done = run(*planted, *words, "-q")
    assert isinstance(done.exception, UserError)
    assert said in str(done.exception)


def test_without_the_assets_the_command_that_gets_them_is_named(planted, tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    done = run(planted[0], "-q")
    assert isinstance(done.exception, UserError)
    assert "fabula models pull" in str(done.exception)


def test_a_foreign_page_is_not_written_over(planted, tmp_path):
    (tmp_path / "out").mkdir()
    page = tmp_path / "out" / "study.html"
    page.write_text("mine", encoding="utf-8")
    assert isinstance(run(*planted, "-o", "out").exception, UserError)
    assert page.read_text(encoding="utf-8") == "mine"
