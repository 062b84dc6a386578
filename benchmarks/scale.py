"""Runs in shards, measured: workers, memory, kills.

    python benchmarks/scale.py workers [--stories N] [--metrics SPECS] [--rounds N]
    python benchmarks/scale.py memory  [--stories N] [--of N] [--workers N]
    python benchmarks/scale.py kills   [--stories N] [--every S] [--for S]
    python benchmarks/scale.py data    [--stories N]
    python benchmarks/scale.py states  [--stories N]

Stories of 200 words are made of the words of the example stories, as often as words are. Every run
is a process of its own. The load of the machine is said beside the figures, since others may use
it, and so is the time of processors, which others do not change.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fabula import Story, load_dataset
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.shards.states import merge_states, seal_state, write_state
from fabula.scoring.survey import Batches

FAST = "words, unique_words, word_length, mattr, distinct(n=2), repetition"
STRINGS = "words, mattr, repetition, bleu, rouge(n=2), chrf"
LENGTH, PER_FILE = 200, 50_000
SCORE = [sys.executable, "-c", "from fabula.cli import main; main()", "score"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["workers", "memory", "kills", "data", "states"])
    parser.add_argument("--stories", type=int, default=0)
    parser.add_argument("--of", type=int, default=1_000_000)
    parser.add_argument("--metrics", default="")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--every", type=float, default=20.0)
    parser.add_argument("--for", dest="lasting", type=float, default=300.0)
    given = parser.parse_args()
    # A worker has one core, here and with Ray.
    os.environ["FABULA_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="fabula-scale-") as folder:
        verbs = {"workers": show_workers, "memory": show_memory, "kills": show_kills}
        (verbs | {"data": show_ray_data, "states": show_states})[given.what](Path(folder), given)


def make_stories(folder: Path, count: int) -> str:
    """Write Parquet files of made-up stories; give the pattern that stands for them."""
    texts = [story.text for story in load_dataset("examples").stories]
    words = np.array(sorted({word for text in texts for word in text.split()}), dtype=object)
    weights = 1 / np.arange(1, len(words) + 1)
    chance = np.random.default_rng(0)
    words = chance.permutation(words)
    for start in range(0, count, PER_FILE):
        size = min(PER_FILE, count - start)
        drawn = chance.choice(len(words), (2, size, LENGTH), p=weights / weights.sum())
        columns = {
            "id": [f"s{start + place}" for place in range(size)],
            "text": [" ".join(words[row]) for row in drawn[0]],
            "reference": [" ".join(words[row]) for row in drawn[1]],
            "system": ["abcd"[place % 4] for place in range(size)],
        }
        path = folder / f"stories-{start // PER_FILE:04d}.parquet"
        pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=8192)
    return str(folder / "stories-*.parquet")


def start(pattern: str, output: Path, metrics: str, *options: str) -> subprocess.Popen[bytes]:
    words = [pattern, "-m", metrics, "-o", str(output), "-q", "--no-report", "-f", "json"]
    return subprocess.Popen([*SCORE, *words, *options], stdout=subprocess.DEVNULL)


def score(pattern: str, output: Path, metrics: str, *options: str) -> dict[str, Any]:
    """Run the command; give its record, with the seconds that the process took."""
    began = time.perf_counter()
    if start(pattern, output, metrics, *options).wait():
        raise SystemExit("the run failed")
    record: dict[str, Any] = json.loads((output / "run.json").read_text())
    return record | {"wall": time.perf_counter() - began}


def say_load() -> str:
    one, five, _ = os.getloadavg()
    return f"load {one:.1f} (1 min), {five:.1f} (5 min), {os.cpu_count()} cores"


def show_workers(folder: Path, given: argparse.Namespace) -> None:
    """One worker of Ray against the local engine, and two against one."""
    count = given.stories or 8000
    metrics = given.metrics or STRINGS
    shard = given.shard or max(64, count // 16)
    pattern = make_stories(folder, count)
    print(f"{count:,} stories × {metrics}, shards of {shard}; {say_load()}")
    ways = {
        "local, one process": [],
        "Ray, 1 worker": ["--engine", "ray"],
        "Ray, 2 workers": ["--engine", "ray", "-j", "2"],
        "local, 2 processes": ["-j", "2"],
    }
    best: dict[str, float] = {}
    least: dict[str, float] = {}
    for turn in range(given.rounds):
        for name, options in ways.items():
            output = folder / f"run-{turn}-{name.replace(' ', '')}"
            record = score(pattern, output, metrics, "--shard-stories", str(shard), *options)
            phases = record["phases"]
            working = phases["survey"] + phases["score"]
            # Workers load their models and modules while the first shards are surveyed.
            best[name] = min(best.get(name, 1e9), phases["score"])
            least[name] = min(least.get(name, 1e9), record["cpu_s"])
            print(
                f"  {name:20} {working:6.1f} s of work ({phases['survey']:.1f} survey),"
                f" {count / working:5.0f} stories/s; {record['cpu_s']:.1f} s of processors scoring;"
                f" start {phases['start']:.1f} s, command {record['wall']:.1f} s; {say_load()}"
            )
    local, one, two = "local, one process", "Ray, 1 worker", "Ray, 2 workers"
    print(f"one Ray worker against the local engine: {best[one] / best[local] - 1:+.1%} of time,")
    print(f"  {least[one] / least[local] - 1:+.1%} of a processor's time")
    print(f"Ray, 1 → 2 workers: {best[one] / best[two]:.2f} × by time; two use")
    print(f"  {least[two] / least[one] - 1:+.1%} of the processors' time of one")
    print(f"local, 1 → 2 processes: {best[local] / best['local, 2 processes']:.2f} ×")


class MemoryWatch(threading.Thread):
    """Looks every second at the memory of a process and of all below it, by what they are."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.ended = pid, threading.Event()
        self.seen: dict[str, list[tuple[float, float]]] = {}

    def run(self) -> None:
        began = time.monotonic()
        while not self.ended.wait(1.0):
            for pid in list_below(self.pid):
                name, size = look_at(pid)
                if name:
                    self.seen.setdefault(name, []).append((time.monotonic() - began, size))

    def describe(self) -> Iterator[str]:
        for name, sizes in sorted(self.seen.items(), key=lambda one: -max(s for _, s in one[1])):
            peak, end = max(size for _, size in sizes), max(when for when, _ in sizes)
            quarters = [
                max((s for w, s in sizes if end * q / 4 <= w <= end * (q + 1) / 4), default=0.0)
                for q in range(4)
            ]
            told = " → ".join(f"{size:.0f}" for size in quarters)
            yield f"  {name:28} peak {peak:6.0f} MiB; in each quarter of the time: {told}"


def list_below(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        try:
            below = Path(f"/proc/{found[-1]}/task/{found[-1]}/children").read_text().split()
        except OSError:
            continue
        todo += map(int, below)
    return found


def look_at(pid: int) -> tuple[str, float]:
    """Name a process and give the MiB that are its own: shared memory is the object store's."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "", 0.0
    sizes = {
        line.split(":")[0]: int(line.split()[1])
        for line in status.splitlines()
        if line.startswith(("RssAnon", "RssFile"))
    }
    known = ("ray::ShardWorker", "raylet", "gcs_server", "spawn_main", "ray::IDLE", "dashboard")
    name = next((name for name in known if name in words), "")
    return name or ("driver" if " score " in words else "others of Ray"), sum(sizes.values()) / 1024


def show_memory(folder: Path, given: argparse.Namespace) -> None:
    """Many stories × a fast set: stories a second, and the memory of every process."""
    count, metrics = given.stories or 200_000, given.metrics or FAST
    began = time.perf_counter()
    pattern = make_stories(folder, count)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 2**20
    took = time.perf_counter() - began
    print(f"{count:,} stories made in {took:.0f} s, {size:.0f} MiB; {say_load()}")
    output = folder / "run"
    run = start(pattern, output, metrics, "--engine", "ray", "-j", str(given.workers))
    looking = MemoryWatch(run.pid)
    looking.start()
    if run.wait():
        raise SystemExit("the run failed")
    looking.ended.set()
    record = json.loads((output / "run.json").read_text())
    phases = record["phases"]
    written = sum(part["bytes"][0] + part["bytes"][1] for part in record["parts"]) / 2**20
    rate = count / (phases["survey"] + phases["score"])
    print(f"{given.workers} Ray workers, {len(record['parts'])} shards × {metrics}")
    print(
        f"  {rate:.0f} stories/s (survey {phases['survey']:.0f} s, score {phases['score']:.0f} s)"
    )
    minutes = given.of / rate / 60
    each = record["cpu_s"] / count * 1e6
    print(f"  {each:.0f} µs of a processor a story; {written:.0f} MiB written")
    print(f"  at this pace {given.of:,} stories take {minutes:.0f} min")
    print("\n".join(looking.describe()))
    print(f"  {say_load()}")


def show_kills(folder: Path, given: argparse.Namespace) -> None:
    """Workers are killed again and again, then the driver; the rows are those of a quiet run."""
    count, metrics = given.stories or 60_000, given.metrics or f"{STRINGS}, cider"
    shard = str(given.shard or 1024)
    options = ["--engine", "ray", "-j", str(given.workers), "--shard-stories", shard]
    pattern = make_stories(folder, count)
    quiet = score(pattern, folder / "quiet", metrics, *options)
    print(f"{count:,} stories × {metrics}; undisturbed {quiet['wall']:.0f} s; {say_load()}")
    chance, began, kills = random.Random(0), time.monotonic(), 0
    run = start(pattern, folder / "killed", metrics, *options)
    while time.monotonic() - began < given.lasting and run.poll() is None:
        time.sleep(given.every)
        workers = [pid for pid in list_below(run.pid) if look_at(pid)[0] == "ray::ShardWorker"]
        if workers and run.poll() is None:
            os.kill(chance.choice(workers), signal.SIGKILL)
            kills += 1
    lasted, ended = time.monotonic() - began, run.poll() is not None
    run.kill()
    run.wait()
    marks = len(list((folder / "killed" / ".shards").glob("score-*.json")))
    print(
        f"{kills} workers killed in {lasted:.0f} s{', until it was done' * ended}; then the driver"
    )
    print(f"{marks} of {len(quiet['parts'])} shards were done by then")
    time.sleep(3)
    resumed = score(pattern, folder / "killed", metrics, *options)
    print(f"resumed: {resumed['wall']:.0f} s more")
    compare(folder / "quiet", folder / "killed", count)


def compare(one: Path, other: Path, count: int) -> None:
    names = sorted(path.relative_to(one).as_posix() for path in one.glob("s*/part-*.parquet"))
    others = sorted(path.relative_to(other).as_posix() for path in other.glob("s*/part-*.parquet"))
    same = [name for name in names if (one / name).read_bytes() == (other / name).read_bytes()]
    stories = pq.read_table(other / "stories", columns=["id"])["id"].to_pylist()
    scores = pq.read_table(other / "scores", columns=["story", "scorer", "aspect"]).to_pylist()
    keys = {tuple(row.values()) for row in scores}
    print(
        f"{len(same)} of {len(names)} files are equal to the byte; other names: {names != others}"
    )
    print(f"stories {len(stories):,}, of them different {len(set(stories)):,}, wanted {count:,}")
    print(f"scores {len(scores):,}, of them different {len(keys):,}")
    leftover = [*other.glob(".shards/*"), *other.rglob("*.partial")]
    print(f"files left over: {len(leftover)}")


DATA = """
import sys, time, logging, ray
from fabula import Story
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.engine import Engine
from fabula.scoring.survey import Survey
pattern, output, specs, workers = sys.argv[1:5]
ray.init(address="local", num_cpus=int(workers) + 1, include_dashboard=False, log_to_driver=False,
         object_store_memory=512 * 2**20, logging_level=logging.ERROR)
import glob
class Scorer:
    def __init__(self): self.metrics = choose_metrics(specs)
    def __call__(self, batch):
        made = [Story(i, t, references=(r,), system=s) for i, t, r, s in zip(*(batch[n] for n in
            ("id", "text", "reference", "system")))]
        rows = [(st.id, sc.scorer, sc.aspect, sc.value, str(sc.status)) for st, sc in
            Engine(self.metrics, Survey(), check=False).run(made)]
        return {n: [row[k] for row in rows] for k, n in
            enumerate(("story", "scorer", "aspect", "value", "status"))}
began = time.perf_counter()
columns = ["id", "text", "reference", "system"]
data = ray.data.read_parquet(sorted(glob.glob(pattern)), columns=columns)
data.map_batches(Scorer, batch_size=512, concurrency=int(workers)).write_parquet(output)
print(time.perf_counter() - began)
"""


def show_ray_data(folder: Path, given: argparse.Namespace) -> None:
    """The same metrics by Ray Data's map_batches, without survey, resume or stories written."""
    count, metrics = given.stories or 20_000, given.metrics or FAST
    pattern = make_stories(folder, count)
    words = [sys.executable, "-W", "ignore", "-c", DATA, pattern, str(folder / "data"), metrics]
    done = subprocess.run([*words, str(given.workers)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    seconds = float(done.stdout.splitlines()[-1])
    print(f"{count:,} stories × {metrics}, {given.workers} workers; {say_load()}")
    print(f"  Ray Data, map_batches:   {seconds:6.1f} s, {count / seconds:6.0f} stories/s")
    shard = str(given.shard or max(64, count // 16))
    options = ("--engine", "ray", "-j", str(given.workers), "--shard-stories", shard)
    phases = score(pattern, folder / "run", metrics, *options)["phases"]
    both = phases["survey"] + phases["score"]
    for name, took in (("scoring", phases["score"]), ("both passes", both)):
        print(f"  actors, {name:12}     {took:6.1f} s, {count / took:6.0f} stories/s")
    print(f"  {say_load()}")


def show_states(folder: Path, given: argparse.Namespace) -> None:
    """What corpus metrics have to know of stories, in bytes, before and after sealing."""
    count = given.stories or 8000
    rows = pq.read_table(sorted(Path(make_stories(folder, count)).parent.glob("*.parquet"))[0])
    stories = [
        Story(row["id"], row["text"], references=(row["reference"],), system="a")
        for row in rows.to_pylist()
    ]
    for metric in choose_metrics(given.metrics or "cider, self_bleu, self_bleu(sample=1000)"):
        batches = Batches()
        for story in stories:
            batches.add(metric, story)
        whole = {metric.spec: merge_states([{metric.spec: batches}, {}])[metric.spec]}
        metric.read_in(stories[:1], batches.gathered)  # sorts what waits to be sorted
        before = len(write_state(whole))
        after = len(write_state(seal_state(whole, [metric])))
        each = f"{before / count:,.0f} bytes a story, sealed {after / count:,.0f}"
        print(f"{metric.spec:24} {count:,} stories: {before / 2**20:.1f} MiB, {each}")


if __name__ == "__main__":
    main()
