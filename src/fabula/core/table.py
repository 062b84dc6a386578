"""A table of scores with the stories they are about: all that the rest of the system reads."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.core.errors import InputError, PackageMissing
from fabula.core.files import open_atomically, write_lines
from fabula.core.images import find_images, relate_images
from fabula.core.score import Score, Status, Summary
from fabula.core.story import Story, count_text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

# How halves of characters (lone surrogates) are written where they cannot be: \ud800.
HALVES: Literal["backslashreplace"] = "backslashreplace"

STORIES, SCORES = "stories.jsonl", "scores.jsonl"
# What fits into a look at a table.
MOST_SYSTEMS, MOST_ROWS = 6, 30
COLUMNS = ("story", "item", "system", "scorer", "aspect", "value", "status", "coverage", "note")


class ScoreTable:
    """Stories and scores. Adds up, pivots to items × systems, goes to files and data frames."""

    def __init__(self, stories: Iterable[Story] = (), scores: Iterable[Score] = ()) -> None:
        self._stories: dict[str, Story] = {}
        for story in stories if isinstance(stories, Iterable) else [stories]:
            if not isinstance(story, Story):
                raise InputError(
                    f"a table is made of stories and scores, not of a {type(story).__name__}",
                    "evaluate(texts, metrics) makes one; ScoreTable.load(folder) reads one",
                )
            if self._stories.setdefault(story.id, story) != story:
                raise InputError(f"two stories share the id {story.id!r}", "give each its own")
        self.scores = list(scores)
        for score in self.scores:
            if score.story not in self._stories:
                raise InputError(f"a score is about {score.story!r}, which is not a story here")

    @property
    def stories(self) -> list[Story]:
        """Stories, in the order they came."""
        return list(self._stories.values())

    @property
    def scorers(self) -> list[str]:
        """Scorers, in the order they came."""
        return list(dict.fromkeys(score.scorer for score in self.scores))

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __repr__(self) -> str:
        """Sizes and means, for a look at the prompt."""
        head, [_, *systems], rows = self._overview()
        lines = [["", *systems], *rows] if any(systems) else rows
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([f"ScoreTable: {head}", *shown])

    def _repr_html_(self) -> str:
        """Give the same to a notebook."""
        head, systems, rows = self._overview()
        lines = [("th", systems), *(("td", row) for row in rows)]
        cells = "".join(
            "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) + "</tr>"
            for tag, line in lines
        )
        return f"<p>ScoreTable: {escape(head)}</p><table>{cells}</table>"

    def _overview(self) -> tuple[str, list[str], list[list[str]]]:
        """Give a line of sizes, and means by scorer and aspect, of every system if they are few."""
        summary = self.summary()
        systems = summary.systems if len(summary.systems) <= MOST_SYSTEMS else []
        means = [self.means(system) for system in systems] or [self.means()]
        labels = list(dict.fromkeys(score.label for score in self.scores))
        rows = [
            [_show(label), *(format(column.get(label, math.nan), ".4g") for column in means)]
            for label in labels[:MOST_ROWS]
        ]
        if len(labels) > MOST_ROWS:
            rows.append([f"… {len(labels) - MOST_ROWS} more in means()", *("" for _ in means)])
        sizes = [
            (len(self._stories), "story", "stories"),
            (len([*filter(None, summary.systems)]), "system", "systems"),
            (len(self.scorers), "scorer", "scorers"),
            (len(self.scores), "score", "scores"),
        ]
        missing = sum(not score.ok for score in self.scores)
        head = ", ".join(count_text(*size) for size in sizes if size[0])
        head += f" ({missing} missing)" if missing else ""
        return (
            f"{head or 'empty'}{'; means' if rows else ''}",
            ["", *map(_show, systems or [""])],
            rows,
        )

    def means(self, system: str | None = None) -> dict[str, float]:
        """Mean of what is there, by scorer and aspect (`rouge(n=2).f`), of all or one system.

        NaN where no story has a value.
        """
        values: dict[str, list[float]] = {}
        for score in self.scores:
            if system is None or (self._stories[score.story].system or "") == system:
                values.setdefault(score.label, []).extend([score.value] if score.ok else ())
        return {
            label: math.fsum(known) / len(known) if known else math.nan
            for label, known in values.items()
        }

    def __add__(self, other: ScoreTable) -> ScoreTable:
        """Join two tables; a story that is in both must be the same in both."""
        return ScoreTable([*self.stories, *other.stories], [*self.scores, *other.scores])

    def of(self, scorer: str, aspect: str | None = None) -> ScoreTable:
        """Give the part of the table that one scorer filled, on one aspect or all."""
        wanted = [
            score
            for score in self.scores
            if score.scorer == scorer and aspect in (None, score.aspect)
        ]
        return ScoreTable(self.stories, wanted)

    def summary(self) -> Summary:
        """Mean by scorer, aspect and system; how many were left out of it, and why."""
        summary = Summary()
        for score in self.scores:
            summary.add(self._stories[score.story].system, score)
        return summary

    def pivot(
        self, scorer: str, aspect: str = ""
    ) -> tuple[list[str], list[str], np.ndarray[Any, np.dtype[np.float64]]]:
        """Give the items, the systems and their values as items × systems; NaN where missing."""
        import numpy as np

        items, systems = self._labels("item"), self._labels("system")
        row = {item: i for i, item in enumerate(items)}
        column = {system: j for j, system in enumerate(systems)}
        values = np.full((len(items), len(systems)), math.nan)
        seen: set[tuple[int, int]] = set()
        for score in self.of(scorer, aspect):
            story = self._stories[score.story]
            cell = row[story.item or ""], column[story.system or ""]
            if cell in seen:
                raise InputError(
                    f"two scores of {scorer!r} for item {story.item!r} and system {story.system!r}",
                    "give every story its own item and system",
                )
            seen.add(cell)
            values[cell] = score.value
        return items, systems, values

    def _labels(self, field: str) -> list[str]:
        return list(dict.fromkeys(getattr(story, field) or "" for story in self.stories))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Go through the scores as rows with the columns of `COLUMNS`."""
        for score in self.scores:
            yield score_row(self._stories[score.story], score)

    @classmethod
    def from_rows(cls, rows: Iterable[dict[str, Any]]) -> ScoreTable:
        """Make a table of such rows; the stories have no text then."""
        stories: dict[str, Story] = {}
        scores = []
        for row in rows:
            story = Story(row["story"], "", system=row.get("system"), item=row.get("item"))
            if stories.setdefault(story.id, story) != story:
                raise InputError(f"rows of story {story.id!r} name other items or systems")
            scores.append(parse_score(row))
        return cls(stories.values(), scores)

    def to_pandas(self) -> pd.DataFrame:
        """Give the rows as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise PackageMissing("pandas", "tables") from None
        rows = list(self.rows())
        return pd.DataFrame({name: [row[name] for row in rows] for name in COLUMNS})

    def to_arrow(self) -> pa.Table:
        """Give the rows as an Arrow table."""
        try:
            import pyarrow as pa
        except ImportError:
            raise PackageMissing("pyarrow", "tables") from None
        rows = list(self.rows())
        return pa.table({name: [row[name] for row in rows] for name in COLUMNS})

    def save(self, folder: str | Path) -> None:
        """Write stories and scores into a folder, from which `load` has them again."""
        lines = (story_line(story, Path(folder)) for story in self.stories)
        write_lines(Path(folder) / STORIES, lines)
        write_lines(Path(folder) / SCORES, map(json_line, self.rows()))

    @classmethod
    def load(cls, folder: str | Path) -> ScoreTable:
        """Read what `save` or a run (`fabula score -o`) wrote into a folder."""
        if not isinstance(folder, str | PathLike):
            raise InputError(f"{folder!r} is no folder", "pass the path of a run or a saved table")
        return cls(read_stories(Path(folder)), read_scores(Path(folder)))

    def to_csv(self, path: str | Path) -> None:
        """Write the rows as CSV; a missing value is an empty cell."""
        with open_atomically(Path(path), errors=HALVES) as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for row in self.rows():
                writer.writerow(plain_row(row))

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object a row; a missing value is null."""
        write_lines(Path(path), map(json_line, self.rows()))


def _show(name: str) -> str:
    """Spell a name so that nothing in it steers a terminal."""
    return name if name.isprintable() else repr(name)


def score_row(story: Story, score: Score) -> dict[str, Any]:
    """Write a score as a row."""
    return {
        "story": score.story,
        "item": story.item,
        "system": story.system,
        "scorer": score.scorer,
        "aspect": score.aspect,
        "value": score.value,
        "status": str(score.status),
        "coverage": score.coverage,
        "note": score.note,
    }


def parse_score(row: dict[str, Any]) -> Score:
    """Read a score from a row; null is a missing value."""
    for name in ("story", "scorer"):
        if not isinstance(row[name], str):
            raise TypeError(f"{name} is no string")
    value = math.nan if row["value"] in (None, "") else float(row["value"])
    status = Status(row.get("status") or Status.OK)
    coverage = row.get("coverage")
    return Score(
        row["story"],
        row["scorer"],
        str(row.get("aspect") or ""),
        value,
        status,
        1.0 if coverage in (None, "") else float(coverage),
        str(row.get("note") or ""),
    )


def plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """Give a row in which a missing value is None, as JSON and CSV want it."""
    return row | {"value": None if math.isnan(row["value"]) else row["value"]}


def json_line(row: dict[str, Any]) -> str:
    """Write a row as a line of JSON."""
    return json_text(plain_row(row)) + "\n"


def without_halves(text: str) -> str:
    """Write halves of characters, which no file can hold, as escapes."""
    return text if text.isascii() else text.encode("utf-8", HALVES).decode()


def json_text(value: Any, indent: int | None = None) -> str:
    """Write JSON in letters as they are, or in escapes where they hold half a character."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=indent)
    return text


def part_name(folder: str, number: int) -> str:
    """Name a part of the stories or scores of a run in shards (docs/scale.md)."""
    return f"{folder}/part-{number:05d}.parquet"


def list_parts(folder: Path, what: str) -> list[Path]:
    """Files of the `stories` or `scores` of a run in shards, in order; of others none."""
    if (folder / f"{what}.jsonl").exists():
        return []
    parts = (folder / what).glob("part-*.parquet")
    numbered = [(path.stem.removeprefix("part-"), path) for path in parts]
    return [path for _, path in sorted((int(n), path) for n, path in numbered if n.isdecimal())]


def check_parts(folder: Path, parts: Iterable[Mapping[str, Any]]) -> None:
    """Look whether the parts of a run in shards are there, by their sizes: they may be many."""
    remedy = "put back what was there, or score again with --overwrite"
    for number, part in enumerate(parts):
        for what, size in zip(("stories", "scores"), part["bytes"], strict=True):
            file = folder / part_name(what, number)
            if not file.is_file():
                raise InputError(f"{file} is missing from the run", remedy)
            if file.stat().st_size != size:
                raise InputError(f"{file} was altered since the run wrote it", remedy)


def read_stories(folder: Path) -> Iterator[Story]:
    """Go through the stories of a saved table."""
    for where, row in _read_either(folder, STORIES):
        try:
            if row.get("images"):
                row |= {"images": find_images(row["images"], folder)}
            yield Story(**row)
        except (TypeError, AttributeError):
            raise InputError(f"{where}: not a story", "write the folder again") from None


def read_scores(folder: Path) -> Iterator[Score]:
    """Go through the scores of a saved table."""
    for where, row in _read_either(folder, SCORES):
        try:
            yield parse_score(row)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError(f"{where}: not a score", "write the folder again") from None


def story_line(story: Story, folder: Path | None = None) -> str:
    """Write a story as a line of JSON, pictures relative to the folder that it will lie in."""
    row = asdict(story)
    if folder is not None and story.images:
        row["images"] = relate_images(story.images, folder)
    return json_text(row) + "\n"


def _read_either(folder: Path, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the rows of one file, or of the parts that a run in shards has instead."""
    parts = list_parts(folder, name.removesuffix(".jsonl"))
    if not parts:
        yield from _read_rows(folder / name)
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    for path in parts:
        try:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    yield f"{path}", row
        except (pa.ArrowException, OSError):
            raise InputError(f"{path} is damaged", "score again with --overwrite") from None


def _read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        # What is no plain file may have no end.
        if path.exists() and not path.is_file():
            raise OSError("no plain file")
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield f"{path}, line {number}", json.loads(line)
    except OSError as error:
        reason = error.strerror or error
        remedy = "give the folder of a run (fabula score -o FOLDER) or a saved table"
        raise InputError(f"{path} cannot be read ({reason})", remedy) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is damaged", "write the folder again") from None
