"""The house rules that a machine can check: floors, light imports, sizes and names."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabula.scoring.catalogue import METRICS

REPO = Path(__file__).resolve().parents[1]
PACKAGE = REPO / "src" / "fabula"
FLOORS = [
    {"_version"},
    {"core"},
    {"text", "models", "datasets", "meta"},
    {"metrics", "learned", "judges", "authors"},
    {"scoring", "studio"},
    {"reports"},
    {"replication", "web"},
    {"cli"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = {
    "torch", "transformers", "scipy", "pandas", "pyarrow", "fastapi", "sqlalchemy", "numba",
    "altair", "spacy", "nltk", "evalica", "statsmodels", "sklearn", "ot",
}  # fmt: skip
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "manager", "process", "base"}
# A home of the invented Ann is no place on anybody's machine.
MACHINE_PATH = re.compile(r"(?<![\w.~}*-])/(?:home|work|Users|root|workspace)/(?!ann\b)\w")


def python_files(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (REPO / folder).rglob("*.py")
        if not any(part.startswith(".") for part in path.relative_to(REPO).parts)
    )


SOURCES = python_files("src")
ALL = python_files("src", "tests")


def label(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def module_of(path: Path) -> list[str]:
    """Dotted name of a source file, in parts; a package's own file has the package's name."""
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(node: ast.AST, path: Path) -> Iterator[str]:
    """Dotted names that a statement imports, relative ones spelled out."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = module_of(path) if path.name == "__init__.py" else module_of(path)[:-1]
        above = package[: len(package) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{source}.{alias.name}" for alias in node.names)


def rooms_known_to(path: Path) -> set[str]:
    """Rooms of our own that a file imports from, wherever in the file it does."""
    names = [
        name.split(".")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in imported(node, path)
    ]
    return {name[1] for name in names if name[0] == "fabula" and len(name) > 1} - {"__version__"}


def in_rooms() -> list[Path]:
    return [path for path in SOURCES if path.parent != PACKAGE]


@pytest.mark.parametrize("path", in_rooms(), ids=label)
def test_a_room_knows_only_lower_floors(path):
    own = path.relative_to(PACKAGE).parts[0]
    assert own in FLOOR, f"{own} stands on no floor"
    for other in rooms_known_to(path) - {own}:
        assert other in FLOOR, f"{other} stands on no floor"
        assert FLOOR[other] < FLOOR[own], f"{own} must not import {other}"


def test_rooms_are_packages_that_say_what_they_are():
    rooms = {path.relative_to(PACKAGE).parts[0] for path in in_rooms()}
    for room in rooms:
        tree = ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room


def loaded_at_once(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, but for those for type checkers alone."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        if isinstance(node, ast.stmt):
            yield node
        todo += ast.iter_child_nodes(node)


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").rglob("*.py")), ids=label)
def test_the_core_needs_only_the_standard_library_and_numpy(path):
    allowed = {*sys.stdlib_module_names, "numpy", "fabula"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in loaded_at_once(tree):
        for name in imported(node, path):
            assert name.partition(".")[0] in allowed, name


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after some code."""
    script = f"import json, sys\n{code}\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=REPO
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


RUN_CLI = """
from fabula.cli import main
sys.argv = ["fabula", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def test_importing_fabula_loads_nothing_heavy():
    loaded = loaded_by("import fabula")
    assert loaded & HEAVY == set()
    assert "numpy" not in loaded


def test_what_fabula_exports_can_be_had_without_anything_heavy():
    assert loaded_by("import fabula\nfor n in fabula.__all__: getattr(fabula, n)") & HEAVY == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids=" ".join)
def test_asking_for_help_loads_neither_numpy_nor_anything_heavy(arguments):
    loaded = loaded_by(RUN_CLI.format(arguments=arguments))
    assert loaded & HEAVY == set()
    assert "numpy" not in loaded


def test_listing_metrics_imports_none_of_them():
    code = "from fabula.scoring.catalogue import METRICS\nMETRICS.names()\n"
    code += "assert not [m for m in sys.modules if m.startswith('fabula.metrics.')]"
    assert loaded_by(code) & HEAVY == set()


@pytest.mark.parametrize("path", ALL, ids=label)
def test_a_file_has_at_most_300_lines_of_at_most_110_characters(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 300
    assert [number for number, line in enumerate(lines, 1) if len(line) > 110] == []


@pytest.mark.parametrize("path", ALL, ids=label)
def test_a_function_has_at_most_40_lines(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    sizes = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: size for name, size in sizes.items() if size > 40} == {}


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_a_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", ALL, ids=label)
def test_a_file_is_named_after_what_it_holds(path):
    names = {part.removesuffix(".py").strip("_") for part in path.relative_to(REPO).parts}
    assert not {name.removeprefix("test_") for name in names} & FORBIDDEN


def test_no_file_names_a_place_on_one_machine():
    texts = [
        path
        for folder in ("src", "tests")
        for path in sorted((REPO / folder).rglob("*"))
        if path.suffix in {".py", ".toml", ".md", ".txt", ".json", ".jsonl", ".html"}
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(REPO).parts)
    ]
    assert [label(path) for path in texts if MACHINE_PATH.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_has_a_page(name):
    page = REPO / "docs" / "metrics" / f"{name}.md"
    assert page.is_file(), f"docs/metrics/{name}.md is missing"
    assert METRICS.get(name).card.title in page.read_text(encoding="utf-8")
