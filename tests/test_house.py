"""The house rules that a machine can check; each is one test, and names its offenders."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

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
# One file is one entry of these, however small it is.
CATALOGUES = {"metrics", "learned", "judges", "authors", "datasets", "cli", "pages"}
HEAVY = {
    "torch", "transformers", "scipy", "pandas", "pyarrow", "fastapi", "sqlalchemy", "numba",
    "altair", "spacy", "nltk", "evalica", "statsmodels", "sklearn", "ot", "alembic", "kiwisolver",
    "peft", "uvicorn", "argon2", "authlib", "prometheus_client", "cv2", "PIL", "torchvision",
    "duckdb", "rensa",
    "ray", "fsspec", "s3fs",
}  # fmt: skip
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "manager", "process", "base"}
# A home of the invented Ann is no place on anybody's machine.
MACHINE_PATH = re.compile(r"(?<![\w.~}*-])/(?:home|work|Users|root|workspace)/(?!ann\b)\w")

MOST_LINES, MOST_FUNCTION_LINES, MOST_CHARACTERS = 400, 40, 110
FEW_LINES, MOST_SMALL_FILES = 40, 15


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


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(node: ast.AST, path: Path) -> Iterator[str]:
    """Dotted names that a statement imports, relative ones spelled out."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = list(path.relative_to(PACKAGE.parent).parts[:-1])
        above = package[: len(package) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{source}.{alias.name}" for alias in node.names)


def imports_between_rooms() -> Iterator[tuple[Path, list[str]]]:
    """Imports from another room, wherever in a file: the file, and the parts of the name."""
    for path in SOURCES:
        if path.parent == PACKAGE:
            continue
        for node in ast.walk(tree_of(path)):
            for name in imported(node, path):
                parts = name.split(".")
                if parts[0] == "fabula" and parts[1] not in (room_of(path), "_version"):
                    yield path, parts


def functions(paths: list[Path]) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in paths:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_a_room_knows_only_lower_floors():
    rooms = {room_of(path) for path in SOURCES if path.parent != PACKAGE}
    assert rooms <= FLOOR.keys()
    offenders = [
        f"{label(path)} imports {'.'.join(parts)}"
        for path, parts in imports_between_rooms()
        if FLOOR.get(parts[1], 99) >= FLOOR[room_of(path)]
    ]
    assert offenders == []


def test_what_begins_with_an_underscore_is_private_to_its_room():
    offenders = [
        f"{label(path)} imports {'.'.join(parts)}"
        for path, parts in imports_between_rooms()
        if any(part.startswith("_") for part in parts[2:-1] or parts[2:])
    ]
    assert offenders == []


def test_packages_say_what_they_are():
    packages = [path for path in SOURCES if path.name == "__init__.py"]
    assert [label(path) for path in packages if not ast.get_docstring(tree_of(path))] == []


def test_modules_say_what_they_are():
    assert [label(path) for path in SOURCES if not ast.get_docstring(tree_of(path))] == []


def test_a_file_holds_one_idea_of_at_most_400_lines():
    sizes = {label(path): len(path.read_text(encoding="utf-8").splitlines()) for path in ALL}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {}


def test_few_modules_are_too_small_to_be_an_idea():
    small = [
        label(path)
        for path in SOURCES
        if path.name != "__init__.py"
        and path.parent.name not in CATALOGUES
        and len(path.read_text(encoding="utf-8").splitlines()) <= FEW_LINES
    ]
    assert len(small) <= MOST_SMALL_FILES, small


def test_a_line_has_at_most_110_characters():
    offenders = [
        f"{label(path)}:{number}"
        for path in ALL
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_CHARACTERS
    ]
    assert offenders == []


def test_a_function_has_at_most_40_lines():
    offenders = [
        f"{label(path)}:{node.name}"
        for path, node in functions(ALL)
        if (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert offenders == []


def test_a_file_is_named_after_what_it_holds():
    offenders = []
    for path in ALL:
        names = {part.removesuffix(".py").strip("_") for part in path.relative_to(REPO).parts}
        if {name.removeprefix("test_") for name in names} & FORBIDDEN:
            offenders.append(label(path))
    assert offenders == []


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


def test_the_core_needs_only_the_standard_library_and_numpy():
    allowed = {*sys.stdlib_module_names, "numpy", "fabula"}
    offenders = [
        f"{label(path)} imports {name}"
        for path in SOURCES
        if path.parent == PACKAGE / "core"
        for node in loaded_at_once(tree_of(path))
        for name in imported(node, path)
        if name.partition(".")[0] not in allowed
    ]
    assert offenders == []


def test_product_code_knows_of_no_paper():
    offenders = [label(p) for p, parts in imports_between_rooms() if parts[1] == "replication"]
    assert [name for name in offenders if not name.startswith("src/fabula/cli/")] == []


def test_the_web_holds_no_sql_and_the_studio_no_http():
    apart = {"web": {"sqlalchemy"}, "studio": {"fastapi", "starlette", "uvicorn", "httpx"}}
    offenders = [
        f"{label(path)} imports {name}"
        for room, foreign in apart.items()
        for path in SOURCES
        if path.is_relative_to(PACKAGE / room)
        for node in ast.walk(tree_of(path))
        for name in imported(node, path)
        if name.partition(".")[0] in foreign
    ]
    assert offenders == []


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


def test_no_module_needs_an_optional_package_to_be_imported():
    """With a light install every metric, data set, model and command can be listed and imported.

    The studio and its pages are nothing without a database and a server, which the extra brings.
    """
    optional = [*HEAVY, "safetensors", "tokenizers", "onnxruntime", "gguf", "snowballstemmer"]
    compiled = {"_compiled", "_compiled_ranks"}
    code = f"""
import importlib, pkgutil, fabula
for name in {optional!r}:
    sys.modules[name] = None
for module in pkgutil.walk_packages(fabula.__path__, "fabula."):
    behind_an_extra = module.name.startswith(("fabula.studio.", "fabula.web."))
    if not behind_an_extra and module.name.rpartition(".")[2] not in {compiled!r}:
        importlib.import_module(module.name)
for name in {optional!r}:
    del sys.modules[name]
"""
    loaded_by(code)


def test_listing_metrics_imports_none_of_them():
    code = "from fabula.scoring.catalogue import METRICS\nMETRICS.names()\n"
    code += "assert not [m for m in sys.modules if m.startswith('fabula.metrics.')]"
    assert loaded_by(code) & HEAVY == set()


def test_no_file_names_a_place_on_one_machine():
    texts = [
        path
        for folder in ("src", "tests")
        for path in sorted((REPO / folder).rglob("*"))
        if path.suffix in {".py", ".toml", ".md", ".txt", ".json", ".jsonl", ".html"}
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(REPO).parts)
    ]
    assert [label(path) for path in texts if MACHINE_PATH.search(path.read_text("utf-8"))] == []


def test_every_metric_has_a_page():
    from fabula.scoring.catalogue import METRICS

    pages = {name: REPO / "docs" / "metrics" / f"{name}.md" for name in METRICS.names()}
    assert [name for name, page in pages.items() if not page.is_file()] == []
    offenders = [
        name
        for name, page in pages.items()
        if METRICS.get(name).card.title not in page.read_text(encoding="utf-8")
    ]
    assert offenders == []


def test_every_data_set_has_a_page():
    from fabula.datasets import DATASETS

    pages = {path.stem for path in (REPO / "docs" / "datasets").glob("*.md")}
    assert sorted(set(DATASETS.names()) - pages) == []


def test_every_command_has_a_page():
    commands = [path.stem for path in (PACKAGE / "cli").glob("[!_]*.py")]
    pages = {path.stem for path in (REPO / "docs" / "commands").glob("*.md")}
    assert sorted(set(commands) - pages) == []
