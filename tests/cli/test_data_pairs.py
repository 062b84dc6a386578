"""`fabula data pairs`: from posts with votes to what a training reads."""

from __future__ import annotations

import csv
from pathlib import Path

from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import InputError, UserError
from fabula.datasets import load_dataset


def posts(folder: Path) -> Path:
    file = folder / "posts.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "title", "body", "ups"])
        for number, votes in enumerate((90, 60, 0, -3, 10)):
            told = " ".join(f"word{number}x{place}" for place in range(250))
            writer.writerow([f"p{number}", "A door opens.", f"{told}.\nEdit: thanks!", votes])
        writer.writerow(["p9", "Nobody answers.", "short", 99])
    return file


def run(*args: object):
    return CliRunner().invoke(cli, ["data", "pairs", *map(str, args)])


def test_pairs_of_posts_are_read_as_the_release_is(tmp_path: Path) -> None:
    out = tmp_path / "made" / "pairs.jsonl"
    done = run(posts(tmp_path), "-o", out, "-c", "text=body")
    assert done.stdout == f"{out}\n", done.exception
    assert done.stderr.splitlines() == [
        "4 pairs of 1 prompt",
        "from 6 posts; left out: 1 too short, 1 between the votes",
    ]
    found = load_dataset("storyer", out)
    texts = {story.id: story.text for story in found.stories}
    chosen = {(texts[one.better][:5], texts[one.worse][:5]) for one in found.preferences}
    assert chosen == {(f"word{a}", f"word{b}") for a in (0, 1) for b in (2, 3)}
    assert not any("Edit" in text for text in texts.values())


def test_text_prompt_and_votes_are_enough(tmp_path: Path) -> None:
    file = tmp_path / "plain.csv"
    with posts(tmp_path).open(newline="") as known, file.open("w", newline="") as out:
        csv.writer(out).writerows(row[1:] for row in csv.reader(known))
    done = run(file, "-o", tmp_path / "pairs.jsonl", "-c", "text=body")
    assert done.exit_code == 0, done.exception
    assert done.stderr.splitlines()[0] == "4 pairs of 1 prompt"


def test_a_prompt_is_written_by_its_words_where_posts_have_its_number_too(tmp_path: Path) -> None:
    told = ["word " * 250 + name for name in "abcd"]
    for title, wanted in ((["A door."] * 2 + ["A lamp."] * 2, ["A door.", "A lamp."]),
                          (["Mine", "Yours", "A", "B"], ["7", "8"])):  # fmt: skip
        file, out = tmp_path / "posts.csv", tmp_path / "pairs.jsonl"
        with file.open("w", newline="") as opened:
            rows = zip("7788", title, told, (90, 0, 90, 0), strict=True)
            csv.writer(opened).writerows([["link_id", "title", "text", "votes"], *rows])
        done = run(file, "-o", out)
        assert done.exit_code == 0, done.exception
        assert sorted({str(one.prompt) for one in load_dataset("storyer", out).stories}) == wanted


def test_bars_that_leave_nothing_and_places_that_cannot_be_written_are_named(tmp_path: Path):
    file = posts(tmp_path)
    done = run(file, "-o", tmp_path / "o.jsonl", "-c", "text=body", "--high", 500)
    assert isinstance(done.exception, InputError)
    assert "no prompt has both a post of 500 votes or more" in str(done.exception)
    done = run(file, "-o", tmp_path / "o.jsonl", "-c", "text=body", "--before", "2020-03-01")
    assert "(left out: 6 without a date)" in str(done.exception)
    done = run(file, "-o", file / "o.jsonl", "-c", "text=body")
    assert isinstance(done.exception, UserError)
    assert "cannot be written" in str(done.exception)


def test_posts_are_chosen_by_their_dates_kept_raw_and_split_by_prompt(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "prompt", "text", "votes", "created_utc", "edited"])
        for prompt in range(4):
            for place, votes in enumerate((90, 0)):
                told = " ".join(f"word{prompt}x{place}x{at}" for at in range(250))
                row = [f"{prompt}.{place}", f"Prompt {prompt}.", f"{told}\n\nEdit: thanks!", votes]
                # 1 January 2019, and 1 January 2020 in the second prompt's posts alone.
                writer.writerow([*row, 1546300800, 1577836800 if prompt == 1 else "false"])
        writer.writerow(["late", "Prompt 0.", "word " * 250, 99, "2020-03-01T10:00:00", ""])
    days = ("--before", "2020-03-01", "--not-updated", "2019-12-01", "2020-03-01")
    out_file = tmp_path / "pairs.jsonl"
    done = run(file, "-o", out_file, *days, "--raw", "--split", 1, 1, 1)
    assert done.exit_code == 0, done.exception
    parts = [tmp_path / f"pairs.{part}.jsonl" for part in ("train", "validation", "test")]
    assert done.stdout.split() == [str(part) for part in parts]
    assert "from 9 posts; left out: 2 updated in between, 1 too late" in done.stderr
    prompts = [{story.prompt for story in load_dataset("storyer", part).stories} for part in parts]
    assert sorted(map(sorted, prompts)) == [["Prompt 0."], ["Prompt 2."], ["Prompt 3."]]
    together = load_dataset("storyer", tmp_path)  # the folder: all three
    assert len(together.preferences) == 3
    assert all(story.text.endswith("Edit: thanks!") for story in together.stories)
