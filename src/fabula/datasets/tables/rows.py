"""Rows of a file, whatever its format: each with the words that say where it stands.

To add a format, write its reader, enter it in `_READERS` and its suffixes in `_SUFFIXES`.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.story import count_text
from fabula.datasets.tables.text_file import MOST_LINE_BYTES, Reading, TextFile, name_path, shorten

Row = Mapping[str, Any]
Rows = Iterator[tuple[str, Row]]

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".ods": "ods",
    ".txt": "txt",
    ".md": "md",
    ".markdown": "md",
    ".docx": "docx",
    ".odt": "odt",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
}
# What is one text and no table; in a folder, all but pages (a report may lie there) are stories.
TEXTS = ("txt", "md", "docx", "odt", "epub", "html")
IN_FOLDERS = tuple(s for s, kind in _SUFFIXES.items() if kind in TEXTS and kind != "html")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes"}
# A file of one column has no delimiter; this character is in no text.
_NO_DELIMITER = "\x1f"
_SAMPLE_ROWS, _SAMPLE_CHARACTERS = 100, 1024 * 1024
_LONGEST_NAME = 40
_FEW = 3


def detect_format(path: Path) -> str:
    """Tell a file's format by its name."""
    if path.is_dir():
        return "folder"
    suffix = _suffix(path)
    if suffix in (".pkl", ".pickle"):
        remedy = (
            "for StoryER's, run: fabula data add storyer FILE (or storyer_ratings), and name it"
        )
        raise InputError(f"{path}: a pickle is read as a data set, not as a table", remedy)
    if suffix not in _SUFFIXES:
        raise InputError(
            f"{path}: cannot tell the format by the name",
            f"pass --input-format with one of {', '.join(sorted(set(_SUFFIXES.values())))}",
        )
    return _SUFFIXES[suffix]


def is_table(path: Path) -> bool:
    """Whether a file's name says that it holds rows, and not one text."""
    return _SUFFIXES.get(_suffix(path), "txt") not in TEXTS


def is_known(path: Path) -> bool:
    """Whether a file's name tells its format."""
    return _suffix(path) in _SUFFIXES


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read_rows(file: TextFile, kind: str = "", reading: Reading | None = None) -> Rows:
    """Go through a file's rows with the words for where each is; its name tells the format.

    A `reading` looks at the file first (its delimiter, its sheets) and may leave bad rows out;
    without one the file must be as its name says to the letter, as files of a release are.
    """
    try:
        yield from _READERS[kind or detect_format(file.path)](file, reading)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{file.label}: cannot be read ({reason})", "check it") from None


def _read_jsonl(file: TextFile, reading: Reading | None) -> Rows:
    _note_encoding(file, reading)
    for number, line in file.lines():
        if line.strip():
            where = f"{file.label}, line {number}"
            try:
                row = parse_line(line, where, unique=reading is not None)
            except InputError as error:
                _refuse(reading, where, error)
            else:
                yield where, row


def parse_line(line: str, where: str, *, unique: bool = True) -> Row:
    """Read the object of a line of JSONL; in one with `unique` keys none may stand twice."""
    return _check_object(_parse_json(line, where, unique=unique), where)


def _read_json(file: TextFile, reading: Reading | None) -> Rows:
    text = file.text()
    _note_encoding(file, reading)
    value = _parse_json(text, file.label, unique=reading is not None)
    if isinstance(value, dict) and isinstance(value.get("stories"), list):
        value = value["stories"]
    if not isinstance(value, list):
        raise InputError(f"{file.label}: not a list of stories", 'write [{"text": …}, …] or JSONL')
    for number, row in enumerate(value, 1):
        where = f"{file.label}, story {number}"
        try:
            row = _check_object(row, where)
        except InputError as error:
            _refuse(reading, where, error)
        else:
            yield where, row


def _refuse(reading: Reading | None, where: str, error: InputError) -> None:
    if reading is None:
        raise error
    reading.refuse(where, error)


def _parse_json(text: str, where: str, *, unique: bool) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_make_object if unique else None)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"{error.msg} at {line}column {error.colno}"
    except _DoubledKey as error:
        raise InputError(
            f"{where}{_find_doubled(text)}: key {error.args[0]!r} stands twice in one object",
            "keep one of the two",
        ) from None
    except ValueError as error:
        problem = str(error)
    except RecursionError:
        problem = "nested too deeply"
    raise InputError(f"{where}: not valid JSON ({problem})", "mend or delete it")


class _DoubledKey(Exception):
    """A key that an object has twice; JSON itself would silently keep the last."""


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _DoubledKey(counts.most_common(1)[0][0])
    return value


def _find_doubled(text: str) -> str:
    """Name the line of the first doubled key in a text of several lines, which is valid JSON."""
    keys: list[set[str]] = []
    for token in re.finditer(r'("(?:[^"\\]|\\.)*")\s*(:)?|[{}]', text.rstrip("\r\n")):
        if token[0] == "{":
            keys.append(set())
        elif token[0] == "}":
            keys.pop()
        elif token[2]:
            key = json.loads(token[1], strict=False)
            if key in keys[-1]:
                line = text.count("\n", 0, token.start()) + 1
                return f", line {line}" if "\n" in text.rstrip("\r\n") else ""
            keys[-1].add(key)
    return ""


def _check_object(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object", 'write {"text": "…", …}')
    return value


def _note_encoding(file: TextFile, reading: Reading | None) -> None:
    if reading and not file.encoding and file.codec != "utf-8":
        reading.note(file.codec)


def _read_csv(file: TextFile, reading: Reading | None, usual: str = ",") -> Rows:
    csv.field_size_limit(MOST_LINE_BYTES)
    delimiter, first = _choose_delimiter(file, reading, usual) if reading else (usual, 1)
    lines = islice(_split_lines(file), first - 1, None)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        where = f"{file.label}, line {reader.line_num + first}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = InputError(
                f"{where}: broken CSV ({error})", "mend the quotes of the row that begins there"
            )
            _refuse(reading if header else None, where, problem)
            continue
        if cells is None:
            return
        if not header:
            header = cells
            check_names(header, where)
        elif cells:
            try:
                row = _name_cells(header, cells, where, delimiter)
            except InputError as error:
                _refuse(reading, where, error)
            else:
                yield where, row


def _split_lines(file: TextFile) -> Iterator[str]:
    """Lines of a table; a lone carriage return ends one too, as Excel for the Mac wrote them."""
    for _, line in file.lines():
        if "\r" in line[:-2]:
            yield from re.split(r"(?<=\r)(?!\n)", line)
        else:
            yield line


def _choose_delimiter(file: TextFile, reading: Reading, usual: str) -> tuple[str, int]:
    """Give the delimiter and the line of the header: as told, as `sep=` says, or as it looks."""
    sample: list[str] = []
    characters = 0
    whole = True
    for line in _split_lines(file):
        sample.append(line)
        characters += len(line)
        if len(sample) > 20 * _SAMPLE_ROWS or characters > _SAMPLE_CHARACTERS:
            whole = False
            break
    told = re.fullmatch(r'"?sep=(.)"?;*,*\s*', sample[0]) if sample else None
    first = 2 if told else 1
    given = reading.form.sign or (told[1] if told else "")
    delimiter = given or sniff_delimiter(sample, usual, whole=whole)
    if not reading.form.sign and delimiter not in (usual, _NO_DELIMITER):
        reading.note(_DELIMITERS.get(delimiter, f"delimiter {delimiter!r}"))
    _note_encoding(file, reading)
    reading.delimiter = delimiter
    return delimiter, first


def sniff_delimiter(lines: Iterable[str], usual: str = ",", *, whole: bool = True) -> str:
    """Tell the delimiter by the header and the rows after it, quotes respected.

    It splits the header, and most rows into as many cells as the header has. Where none does, the
    file has one column: prose is full of commas. Unless the lines are the `whole` file, the last
    row may be cut and does not count.
    """
    sample = list(lines)
    best, best_rank = _NO_DELIMITER, (0.0, 0)
    for delimiter in dict.fromkeys((usual, *_DELIMITERS)):
        rows = _parse_sample(sample, delimiter)
        sizes = [len(cells) for cells in (rows if whole else rows[:-1] or rows)]
        if not sizes or sizes[0] < 2:
            continue
        fits = sizes[1:].count(sizes[0]) / len(sizes[1:]) if sizes[1:] else 1.0
        # A header that is a sentence has blanks after its commas; names of columns have not.
        named = all(0 < len(name) <= _LONGEST_NAME and name == name.strip() for name in rows[0])
        if fits < 0.5 and min(sizes) < sizes[0] and not named:
            continue
        best, best_rank = max((best, best_rank), (delimiter, (fits, sizes[0])), key=lambda o: o[1])
    return best


def _parse_sample(lines: list[str], delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for cells in csv.reader(lines, delimiter=delimiter):
            if cells:
                rows.append(cells)
            if len(rows) > _SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    return rows


def check_names(names: list[str], where: str) -> None:
    """Refuse two columns of one name."""
    # Columns without a name are often empty ones that a spreadsheet left: `_name_cells` looks.
    doubled = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if doubled:
        raise InputError(f"{where}: column {min(doubled)!r} stands twice", "rename one")


def _name_cells(header: list[str], cells: list[str], where: str, delimiter: str) -> Row:
    if len(cells) != len(header):
        raise _refuse_count(header, cells, where, delimiter)
    row = dict(zip(header, cells, strict=True))
    if len(row) < len(header):
        for place, (name, cell) in enumerate(zip(header, cells, strict=True), 1):
            if not name.strip() and cell.strip():
                raise InputError(f"{where}: cell {place} stands under no name", "name its column")
    return row


def _refuse_count(header: list[str], cells: list[str], where: str, delimiter: str) -> InputError:
    """Say what is the matter with a row that is longer or shorter than the header."""
    names = ", ".join(header[:_FEW]) + ", …" * (len(header) > _FEW)
    parted = _DELIMITERS.get(delimiter, f"{delimiter!r}")
    problem = (
        f"{where}: {count_text(len(cells), 'cell')} where the header has {len(header)} "
        f"({shorten(names, 60)}), cells parted by {parted}"
    )
    other = [sign for sign in _DELIMITERS if sign != delimiter and sign in header[0]]
    if len(header) == 1 and other:
        return InputError(problem, f"are they parted by {_DELIMITERS[other[0]]}? pass --delimiter")
    if len(cells) < len(header):
        return InputError(problem, 'put a text with line breaks into quotes ("…"), fill the row')
    remedy = f'put cells that hold {parted} into quotes ("…"), or pass --delimiter'
    return InputError(problem, remedy)


def _read_tsv(file: TextFile, reading: Reading | None) -> Rows:
    return _read_csv(file, reading, "\t")


def _read_parquet(file: TextFile, _reading: Reading | None) -> Rows:
    from fabula.datasets.tables.workbook import read_parquet

    return read_parquet(file)


def _read_workbook(file: TextFile, reading: Reading | None) -> Rows:
    from fabula.datasets.tables.workbook import read_workbook

    return read_workbook(file, reading or Reading(file.label))


def _read_text(file: TextFile, reading: Reading | None, kind: str = "txt") -> Rows:
    name = name_path(Path(file.path.name.removesuffix(".gz")).stem)
    yield file.label, {"id": name, "text": read_whole(file, kind, reading)}


def read_whole(file: TextFile, kind: str, reading: Reading | None) -> str:
    """Give the text of a file that holds one: as it stands, or taken out of a document."""
    if kind == "txt":
        text = file.text()
    else:
        from fabula.datasets.tables.documents import read_document

        text = read_document(file, kind)
    if kind in ("txt", "md", "html"):
        _note_encoding(file, reading)
    return text


def _read_folder(file: TextFile, reading: Reading | None) -> Rows:
    from fabula.datasets.tables.folders import read_folder

    return read_folder(file, reading or Reading(file.label))


_READERS: dict[str, Callable[[TextFile, Reading | None], Rows]] = {
    "jsonl": _read_jsonl,
    "json": _read_json,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    **dict.fromkeys(("xlsx", "xls", "ods"), _read_workbook),
    **{kind: partial(_read_text, kind=kind) for kind in TEXTS},
    "folder": _read_folder,
}
FORMATS = tuple(_READERS)
