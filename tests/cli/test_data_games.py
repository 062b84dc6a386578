"""`fabula data games`: stories in, games out that every other command reads."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def write_stories(folder: Path) -> Path:
    texts = ["Mira met Oskar. Oskar ran. Then Mira fell. So did Oskar.", "No one. At all. Today."]
    rows = [{"id": f"s{number}", "text": text} for number, text in enumerate(texts)]
    path = folder / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_games_are_written_counted_and_read_again(fabula: Run, tmp_path: Path) -> None:
    stories = write_stories(tmp_path)
    done = fabula("data", "games", str(stories), "-o", str(tmp_path / "games"), "--fewest", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().strip() == str(tmp_path / "games" / "games.jsonl")
    assert done.stderr.decode().splitlines()[-2:] == [
        "1 game of 2 stories: 4 entries, 3 of them by characters",
        "left out: 1 without a name or anybody who tells them",
    ]
    path = str(tmp_path / "games")
    counted = fabula("data", "statistics", "storium", "--path", path, "-f", "json")
    figures = {row["what"]: row["count"] for row in json.loads(counted.stdout)}
    assert (figures["games"], figures["entries"], figures["characters"]) == (1, 4, 2)


def test_the_same_again_is_the_same_file(fabula: Run, tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for file in files:
        done = fabula("data", "games", "examples", "-o", str(file), "--seed", "3", "--most", "20")
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes() != b""


def test_games_are_made_up_where_there_are_no_stories(fabula: Run, tmp_path: Path) -> None:
    done = fabula("data", "games", "--made-up", "5", "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 5
    for wrong in (("examples", "--made-up", "5"), ()):
        refused = fabula("data", "games", *wrong, "-o", str(tmp_path / "no"))
        assert refused.returncode == 2 and b"--made-up" in refused.stderr


def test_nothing_is_lost_and_nothing_is_left_half_done(fabula: Run, tmp_path: Path) -> None:
    stories = write_stories(tmp_path)
    before = stories.read_bytes()
    over = fabula("data", "games", str(stories), "-o", str(stories), "--overwrite")
    assert over.returncode == 2 and stories.read_bytes() == before
    none = fabula("data", "games", str(stories), "-o", str(tmp_path / "no"), "--fewest", "9")
    assert none.returncode == 2
    assert "no story becomes a game (left out: of fewer than 9 entries)" in none.stderr.decode()
    assert list((tmp_path / "no").iterdir()) == []
