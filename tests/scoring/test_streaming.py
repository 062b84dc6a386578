"""Files of any size in bounded memory: what grows with the stories is their ids and no more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

METRICS = "words,spread"
MOST_GROWTH_MIB = 60
# With a report, which is drawn up by a database that is held to a part of the memory.
MOST_MIB = 600


def make_file(path: Path, stories: int) -> Path:
    with path.open("w") as out:
        for number in range(stories):
            story = {
                "id": f"story-{number:06}",
                "text": f"Once upon a time number {number} " + "met another one " * (number % 5),
                "system": "abcd"[number % 4],
                "item": f"item-{number // 4:06}",
            }
            out.write(json.dumps(story) + "\n")
    return path


def measured(file: Path, environment: dict[str, str], *more: str) -> tuple[float, float]:
    """Peak of memory in MiB and time in seconds of scoring a file."""
    words = ["score", str(file), "-m", METRICS, "-o", str(file.with_suffix(".run")), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "toys.memory", *words, *more],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    peak_mib, seconds = map(float, done.stderr.split())
    return peak_mib, seconds


def test_ten_times_the_stories_take_hardly_more_memory(
    tmp_path: Path, toy_environment: dict[str, str]
) -> None:
    small, large = ((tmp_path / f"{name}.jsonl") for name in ("few", "many"))
    few, few_s = measured(make_file(small, 10_000), toy_environment, "--no-report")
    many, many_s = measured(make_file(large, 100_000), toy_environment, "--no-report")
    print(f"10,000: {few:.0f} MiB, {few_s:.1f} s; 100,000: {many:.0f} MiB, {many_s:.1f} s")
    assert many - few < MOST_GROWTH_MIB
    record = json.loads((tmp_path / "many.run" / "run.json").read_text())
    assert record["input"]["stories"] == 100_000
    assert all(row["scored"] == 25_000 for row in record["summary"])
    with (tmp_path / "many.run" / "scores.jsonl").open() as lines:
        assert sum(1 for _ in lines) == 200_000
    reported, _ = measured(large, toy_environment, "--overwrite")
    assert (tmp_path / "many.run" / "report.html").is_file()
    assert reported < MOST_MIB
