"""Run folders that were tampered with: whoever reads one gets what was written, or one line."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.core.files import checksum_file
from fabula.datasets.tables.stories import StoryFile
from fabula.reports.report import write_report
from fabula.reports.run_data import read_report_data
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.folder import PARQUET, RUN, SCORES, STORIES, RunFolder
from fabula.scoring.pairing import pair_runs
from fabula.scoring.run import RunOptions, run
from fabula.scoring.sources import DatasetSource
from fakes.fuzzing import rounds, seeded

FILES = (RUN, STORIES, SCORES, PARQUET)
METRICS = "words,chrf,mattr,repetition,type_token_ratio,unique_words,word_length"
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**400, "", "x", "\ud800", "\0", "../..", [], [[]], {}, {"a": [1]},
    "higher", "human:x", "words(", float("nan"), [None] * 3, {"": {"": ""}},
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of two systems, one of whose stories is empty."""
    folder = tmp_path_factory.mktemp("fuzz")
    rows = [
        {"id": f"{s}{n}", "text": "Once. " * n, "reference": "Once upon.", "system": s, "item": n}
        for s in "ab"
        for n in range(4)
    ]
    file = folder / "tales.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(StoryFile(file), choose_metrics(METRICS), RunOptions(folder / "run", cache=False))
    return folder / "run"


def read_for_report(folder: Path) -> Any:
    data = read_report_data(folder)
    return data.metrics, data.stories, data.values.tobytes(), data.statuses.tobytes()


def read_for_meta(folder: Path) -> Any:
    dataset = DatasetSource(str(folder)).load(rated=False)
    # Without run.json it is a saved table, which knows the scores but not the metrics' cards.
    cards = dataset.scorers if (folder / RUN).exists() else None
    return dataset.stories, list(map(repr, dataset.scores)), cards


def read_for_compare(folder: Path) -> Any:
    paired = pair_runs([folder])
    return list(map(repr, paired.table)), paired.metrics, paired.systems


def read_for_more_metrics(folder: Path) -> Any:
    return RunFolder(folder).read_earlier()


READERS = (read_for_report, read_for_meta, read_for_compare, read_for_more_metrics)


def flip(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice(FILES)
    raw = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 50))):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    path.write_bytes(raw)


def cut(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice(FILES)
    raw = path.read_bytes()
    path.write_bytes(raw[: chance.randrange(len(raw))] + chance.randbytes(chance.choice((0, 0, 9))))


def lose(chance: random.Random, folder: Path) -> None:
    (folder / chance.choice(FILES)).unlink()


def swap(chance: random.Random, folder: Path) -> None:
    one, other = chance.sample(FILES, 2)
    first, second = (folder / one).read_bytes(), (folder / other).read_bytes()
    (folder / one).write_bytes(second)
    (folder / other).write_bytes(first)


def link(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice(FILES)
    path.unlink()
    path.symlink_to(chance.choice(["/dev/zero", path.name, "nowhere", ".", "/dev/null", SCORES]))


def move_lines(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice((STORIES, SCORES))
    lines = path.read_bytes().splitlines(keepends=True)
    chance.shuffle(lines)
    path.write_bytes(b"".join(lines[: chance.randint(0, len(lines))]))


TAMPERINGS: tuple[Callable[[random.Random, Path], None], ...] = (
    flip, cut, lose, swap, link, move_lines,
)  # fmt: skip


def test_what_was_tampered_with_is_a_line_or_what_was_written(whole: Path, tmp_path: Path) -> None:
    chance, expected = seeded("run folders"), [read(whole) for read in READERS]
    for number in range(rounds(300) // 2):
        folder = copy_run(whole, tmp_path / "run")
        # Links come last: what tampers must not itself read what has no end.
        chosen = chance.sample(TAMPERINGS, chance.choice((1, 1, 2)))
        for tamper in sorted(chosen, key=lambda tamper: tamper is link):
            try:
                tamper(chance, folder)
            except (OSError, ValueError):  # the second finds what the first has left
                continue
        for read, right in zip(READERS, expected, strict=True):
            try:
                found = read(folder)
            except UserError as error:
                assert str(error), number
            else:
                # A saved table has no checksums: it is read as it is.
                assert found == right or not (folder / RUN).exists(), (number, read)


def test_records_and_rows_of_any_shape_are_read_or_refused_with_a_line(
    whole: Path, tmp_path: Path
) -> None:
    """Checksums are made to fit here, as one would who means it: nothing but a line may come."""
    chance = seeded("records of runs")
    record = json.loads((whole / RUN).read_text())
    record.pop("checksum")
    for number in range(rounds(300) // 2):
        folder = copy_run(whole, tmp_path / "run")
        altered = copy.deepcopy(record)
        if chance.random() < 0.6:
            spoil(chance, altered)
        else:
            spoil_lines(chance, folder / chance.choice((STORIES, SCORES)))
            altered["files"] = {name: checksum_file(folder / name) for name in record["files"]}
        (folder / RUN).write_text(json.dumps(altered))
        if chance.random() < 0.1:
            (folder / RUN).unlink()
        for read in (*READERS, *([write_report] if number % 25 == 0 else [])):
            try:
                read(folder)
            except UserError as error:
                assert str(error), number


def copy_run(whole: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(whole, folder))


def spoil(chance: random.Random, value: Any) -> None:
    """Take something out of a plain value, put junk into it, or the one into the other."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        places = list(list_places(value))
        if not places:
            return
        holder, key = chance.choice(places)
        if chance.random() < 0.3:
            del holder[key]
        elif chance.random() < 0.2:
            other, name = chance.choice(places)
            holder[key] = (
                copy.deepcopy(other[name]) if name in other or isinstance(other, list) else 0
            )
        else:
            holder[key] = copy.deepcopy(chance.choice(JUNK))


def list_places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(pairs):
        yield value, key
        if isinstance(part, dict | list):
            yield from list_places(part)


def spoil_lines(chance: random.Random, path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    if chance.random() < 0.2:
        rows[chance.randrange(len(rows))] = chance.choice(JUNK)
    else:
        spoil(chance, rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
