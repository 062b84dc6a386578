"""How many files a reader opens to follow a command: those of ours in which a function runs.

Metrics and functions on text are what a command is about, not its chain: they do not count.

    python benchmarks/chains.py            # a line a command, with the most it may be
    python benchmarks/chains.py score -v   # and the files, in the order in which they are entered
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import fabula

PACKAGE = Path(fabula.__file__).parent
REPO = Path(__file__).resolve().parents[1]
# Metrics are what is asked, not the way to them: those of `learned` lie in the room itself.
NOT_COUNTED = ("metrics/", "text/")


def is_counted(file: str) -> bool:
    """Whether a file belongs to a chain: neither a metric nor a function on text."""
    room, name = file.split("/")[0], file.removeprefix("learned/")
    is_learned_metric = room == "learned" and "/" not in name and not name.startswith("_")
    return not file.startswith(NOT_COUNTED) and not is_learned_metric


# `train` learns from examples that are ready, as on a machine with a GPU; `prepare` makes them of a
# table first, which goes through the readers of data sets as well.
MOST = {"score": 35, "review": 40, "prepare": 40, "train": 20, "meta": 40}

# Runs a command and writes down every file of the package in which a function was called.
TRACED = """
import json, sys, threading
from pathlib import Path
package, out = sys.argv[1:3]
del sys.argv[1:3]
files = {}
def note(frame, event, argument):
    code = frame.f_code
    # Bodies of modules and classes are no functions: their names are not local and fast. Nor are
    # comprehensions, which run when a module is imported.
    is_function = code.co_flags & 1 and not code.co_name.endswith(("comp>", "expr>"))
    if event == "call" and is_function and code.co_filename.startswith(package):
        files.setdefault(code.co_filename[len(package) + 1:])
threading.setprofile(note)
sys.setprofile(note)
try:
    from fabula.cli import main
    sys.argv[0] = "fabula"
    main()
finally:
    sys.setprofile(None)
    Path(out).write_text(json.dumps(list(files)))
"""

RECIPE = """
kind = "storyer"
encoder = "story_encoder"
[tasks.mine]
kind = "ratings"
data = ["{ratings}"]
head = "criteria"
aspects = ["overall"]
[[stages]]
rate = 1e-4
steps = 2
[[stages.groups]]
tasks = ["mine"]
rows = 4
[scales.preference]
terms = {{ criteria = 1.0 }}
to = ["mine"]
"""


def commands(folder: Path) -> dict[str, list[str]]:
    """Give what is typed for each chain; inputs are written into the folder."""
    ratings, recipe = folder / "ratings.csv", folder / "recipe.toml"
    with ratings.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "story", "item", "system", "rater", "overall"])
        for story in fabula.load_dataset("examples").stories:
            grade = len(set(story.text.split())) % 5 + 1
            writer.writerow([story.id, story.text, story.item, story.system, "ann", grade])
    recipe.write_text(RECIPE.format(ratings=ratings.as_posix()), encoding="utf-8")
    story = str(REPO / "examples" / "lighthouse.txt")
    train = ["train", "storyer", "--recipe", str(recipe), "--prepared", str(folder / "ready.npz")]
    return {
        "score": ["score", "examples", "-m", "strings", "-o", str(folder / "run")],
        "review": ["review", story, "--no-cache"],
        "prepare": [*train, "-o", str(folder / "first")],
        "train": [*train, "-o", str(folder / "second")],
        "meta": ["meta", str(ratings)],
    }


def files_of(arguments: list[str], folder: Path) -> list[str]:
    """Run a command in a process of its own; give the files of its chain."""
    out = folder / "files.json"
    done = subprocess.run(
        [sys.executable, "-c", TRACED, str(PACKAGE), str(out), *arguments],
        capture_output=True,
        text=True,
        cwd=REPO,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "XDG_CACHE_HOME": str(folder)},
    )
    if done.returncode:
        sys.exit(f"fabula {' '.join(arguments)} failed:\n{done.stderr}")
    entered: list[str] = json.loads(out.read_text(encoding="utf-8"))
    return [name for name in entered if is_counted(name)]


def main() -> None:
    """Print the number of files of every chain asked for, and of all where none is named."""
    wanted = [name for name in sys.argv[1:] if not name.startswith("-")] or list(MOST)
    over = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, arguments in commands(folder).items():
            if name not in wanted and not (name == "prepare" and "train" in wanted):
                continue
            files = files_of(arguments, folder)
            print(f"{name:8}{len(files):4} files (at most {MOST[name]})")
            if "-v" in sys.argv:
                print("".join(f"    {file}\n" for file in files), end="")
            over += [name] if len(files) > MOST[name] else []
    if over:
        sys.exit(f"too long: {', '.join(over)}")


if __name__ == "__main__":
    main()
