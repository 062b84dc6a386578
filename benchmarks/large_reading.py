"""What reading a large run takes: `report`, `compare`, `meta`, `view` and `filter`, each by itself.

    python benchmarks/large_reading.py [STORIES] [--keep FOLDER]

A run folder in parts is made up (stories of 200 words by four systems, some of them copies of
others; scores drawn at random, some missing), and every command reads it in a process of its own.
Printed are seconds and the peak of resident memory. `--keep` leaves the run there, and takes one
that lies there already.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fabula._version import __version__
from fabula.core.files import checksum_file
from fabula.core.score import Score, Status, Summary
from fabula.scoring.catalogue import choose_metrics

SYSTEMS = ("atlas", "birch", "comet", "delta")
METRICS = "words, unique_words, mattr, repetition, bleu, chrf, rouge(n=2)"
PART = 20_000
WORDS = 200
RUN = """
import sys
from fabula.cli import main
try:
    main()
finally:
    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(*peak, file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stories", nargs="?", type=int, default=200_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = given.keep or Path(temporary)
        run = home / "runs" / f"made-up-{given.stories}"
        if not (run / "run.json").is_file():
            make_run(run, given.stories)
        load = os.getloadavg()[0]
        size = sum(path.stat().st_size for path in run.rglob("*.parquet")) / 2**20
        print(f"{given.stories:,} stories, {size:,.0f} MiB of Parquet; load {load:.1f}")
        gold = write_gold(home / "gold.csv", given.stories)
        show("report", ["report", run, "-o", home / "report.html", "--overwrite", "-q"])
        page = (home / "report.html").stat().st_size / 2**20
        print(f"{'':28} the page is {page:.1f} MiB")
        show("compare", ["compare", run, *SYSTEMS[:2], "-q"])
        show("meta", ["meta", run, "--gold", gold, "--no-baselines", "-q"])
        keep = "words > 180 and rouge(n=2).f > 0.3 and not repetition > 0.6"
        out = ["-o", home / "kept.parquet", "--overwrite", "-q"]
        show("filter --keep", ["filter", run, "--keep", keep, *out])
        dedupe = ["--dedupe", "0.8", "--best", "mattr"]
        show("filter --dedupe", ["filter", run, "--keep", keep, *dedupe, *out])
        sample = ["--sample", "1000", "--by", "mattr", "--per", "system"]
        show("filter --sample", ["filter", run, "--keep", keep, *sample, *out])
        show_view(run)


def make_run(folder: Path, count: int) -> None:
    """Make up a run in parts; the first system's stories are copied by the last now and then."""
    rng = np.random.default_rng(0)
    lexicon = np.array([f"w{number:04x}" for number in rng.permutation(5000)], dtype=object)
    metrics = choose_metrics(METRICS)
    columns = [(metric.spec, aspect) for metric in metrics for aspect in metric.aspects]
    summary = Summary()
    files: dict[str, str] = {}
    told = []
    for part, start in enumerate(range(0, count, PART)):
        numbers = np.arange(start, min(count, start + PART))
        tables = {
            "stories": make_stories(numbers, lexicon, rng),
            "scores": make_scores(numbers, columns, rng, summary),
        }
        for name, table in tables.items():
            path = folder / name / f"part-{part:05d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path, compression="zstd")
            files[f"{name}/{path.name}"] = checksum_file(path)
        sizes = [(folder / name / path.name).stat().st_size for name in tables]
        counts = {name: len(table) for name, table in tables.items()}
        told.append({**counts, "bytes": sizes})
    record = {
        "fabula": __version__,
        "finished": "2026-02-03T04:05:06+00:00",
        "seconds": 1.0,
        "input": {"path": "made-up.jsonl", "format": "jsonl", "stories": count},
        "question": {
            "input": hashlib.sha256(str(count).encode()).hexdigest(),
            "metrics": [metric.identity for metric in metrics],
        },
        "metrics": [
            {
                "spec": metric.spec,
                "direction": metric.direction,
                "family": metric.card.family,
                "signature": metric.signature(),
                "short_signature": metric.signature(short=True),
            }
            for metric in metrics
        ],
        "versions": {},
        "summary": summary.rows(),
        "files": files,
        "parts": told,
    }
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")


def name_places(numbers: np.ndarray) -> tuple[list[str], list[str], list[str]]:
    systems = [SYSTEMS[number % len(SYSTEMS)] for number in numbers.tolist()]
    items = [f"item-{number // len(SYSTEMS)}" for number in numbers.tolist()]
    return [f"story-{number}" for number in numbers.tolist()], systems, items


def make_stories(numbers: np.ndarray, lexicon: np.ndarray, rng: np.random.Generator) -> pa.Table:
    ids, systems, items = name_places(numbers)
    words = lexicon[rng.integers(len(lexicon), size=(len(numbers), WORDS))]
    copies = np.flatnonzero((numbers % len(SYSTEMS) == len(SYSTEMS) - 1) & (numbers % 5 == 0))
    words[copies] = words[np.maximum(copies - len(SYSTEMS) + 1, 0)]
    words[copies, : WORDS // 50] = "again"
    nothing = pa.array([[] for _ in ids], type=pa.list_(pa.string()))
    return pa.table(
        {
            "id": ids,
            "text": [" ".join(row) for row in words.tolist()],
            "prompt": [f"Write about {item}." for item in items],
            "references": nothing,
            "images": nothing,
            "system": systems,
            "item": items,
        }
    )


def make_scores(
    numbers: np.ndarray,
    columns: list[tuple[str, str]],
    rng: np.random.Generator,
    summary: Summary,
) -> pa.Table:
    """Scores story by story, as a run writes them; one in a hundred is missing."""
    ids, systems, items = name_places(numbers)
    shape = len(numbers), len(columns)
    lift = np.array([SYSTEMS.index(system) for system in systems])[:, None] * 0.01
    values = np.clip(rng.normal(0.5 + lift, 0.15, size=shape), 0, 1)
    values[:, :2] = np.round(values[:, :2] * 100 + 150)  # the two that count words
    missing = rng.random(shape) < 0.01
    statuses = np.where(missing, "undefined", "ok")
    for system, row, status in zip(systems, values.tolist(), statuses.tolist(), strict=True):
        for column, value, why in zip(columns, row, status, strict=True):
            summary.add(system, Score("", *column, value, Status(why)))
    across = len(columns)
    return pa.table(
        {
            "story": np.repeat(np.array(ids, dtype=object), across),
            "item": np.repeat(np.array(items, dtype=object), across),
            "system": np.repeat(np.array(systems, dtype=object), across),
            "scorer": np.tile(np.array([c[0] for c in columns], dtype=object), len(ids)),
            "aspect": np.tile(np.array([c[1] for c in columns], dtype=object), len(ids)),
            "value": pa.array(values.ravel(), mask=missing.ravel()),
            "status": statuses.ravel().astype(object),
            "coverage": np.where(missing, 0.0, 1.0).ravel(),
            "note": np.where(missing, "nothing to divide by", "").ravel().astype(object),
        }
    )


def write_gold(path: Path, count: int) -> Path:
    """Ratings of every hundredth item, all of its systems."""
    rng = np.random.default_rng(1)
    lines = ["story,overall"]
    for item in range(0, count // len(SYSTEMS), 100):
        numbers = range(item * len(SYSTEMS), (item + 1) * len(SYSTEMS))
        lines += [f"story-{number},{rng.integers(1, 6)}" for number in numbers]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def show(what: str, arguments: list[object]) -> None:
    """Run a command by itself and print what it took."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, arguments)], capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{what}: {done.stdout}{done.stderr}")
    peak = int(done.stderr.split()[-2]) / 1024
    print(f"{what:28} {seconds:7.1f} s   peak {peak:6.0f} MiB", flush=True)


def show_view(run: Path) -> None:
    """Open pages of a served run, and print how long each took and what the server held."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "view", str(run.parent), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        address = next(word for word in server.stderr.readline().split() if "http" in word)
        wait_for(address)
        name = run.name
        pages = {
            "view: first page of stories": f"stories?name={name}",
            "view: sorted by a metric": f"stories?name={name}&sort=mattr&offset=1000",
            "view: a system, searched": f"stories?name={name}&system=comet&q=w01a2",
            "view: the report": f"report?name={name}",
        }
        for what, page in pages.items():
            began = time.perf_counter()
            with urllib.request.urlopen(f"{address}/{page}", timeout=600) as answer:
                answer.read()
            print(f"{what:28} {time.perf_counter() - began:7.1f} s", flush=True)
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        print(f"{'view: the server':28} {'':9}   peak {int(peak.split()[1]) / 1024:6.0f} MiB")
        server.terminate()


def wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(address, timeout=5).read()
            return
        except OSError:
            time.sleep(0.1)


if __name__ == "__main__":
    main()
