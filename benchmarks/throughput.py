"""Stories a second by family of metrics: on one core, on two, and on a GPU where there is one.

    python benchmarks/throughput.py [FAMILY ...] [--home FOLDER] [--seconds S] [--devices cpu,cuda]

Every measurement is a process of its own, tied to its cores, with one thread a core: a worker of a
run in shards. It reads made-up stories of about 250 words, first some to warm up, then for so many
seconds. `--home` is the FABULA_HOME that holds the models; without it those of the repository
(weights/) and of the user's own store are there. On a GPU (FABULA_DEVICE=cuda) a family uses it
whose network computes there; the last column says whether it did, by what torch took of its memory.

Families in int8 are `dtype='int8'` of the metric or its encoder: benchmarks/int8.py says what that
costs in agreement. On processors the rate is by the time of the processor, which others on the
machine hardly change, and in brackets by the clock; on a GPU it is by the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula import Story

FAMILIES = {
    "baselines": "baselines",
    "strings": "strings",
    "fast strings": "words, unique_words, word_length, mattr, distinct(n=2), repetition",
    "checks": "checks",
    "criteria": "criteria",
    "storyer": "storyer",
    "learned": "learned",
    "large": "criteria(weights='large'), storyer(weights='large')",
    "large coherence": "coherence(weights='large')",
    "bertscore": "bertscore",
    "criteria int8": "criteria(dtype='int8')",
    "storyer int8": "storyer(dtype='int8')",
    "coherence": "coherence",
    "coherence int8": "coherence(dtype='int8')",
    "bertscore int8": "bertscore(model=\"embedded('minilm', dtype='int8')\")",
    "embedding": "bertscore, moverscore, supert",
    "masked": "masked_entropy",
    "perplexity": "perplexity",
}
# These add little to what the others say.
_FURTHER = ("baselines", "storyer", "storyer int8", "coherence", "coherence int8", "embedding")
USUAL = [name for name in FAMILIES if name not in _FURTHER]
_TIMEOUT_S = 180  # large weights take seconds a story, and read eight twice


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=USUAL)
    parser.add_argument("--home", default="")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--devices", default="cpu,cuda")
    parser.add_argument("--child", default="")
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.child, given.seconds, given.at_once)))
        return
    if given.home:
        os.environ["FABULA_HOME"] = str(Path(given.home).absolute())
    devices = given.devices.split(",")
    gpu = see_gpu() if "cuda" in devices else ""
    cores = sorted(os.sched_getaffinity(0))
    print(f"{len(cores)} cores; load {os.getloadavg()[0]:.1f}; GPU: {gpu or 'none'}")
    columns = ["one core", "two cores"] if "cpu" in devices else []
    columns += ["GPU", "GPU MiB"] if gpu else []
    print(f"{'stories/s':16}" + "".join(f"{name:>16}" for name in columns))
    for family in given.families:
        cells = list[dict[str, Any]]()
        if "cpu" in devices:
            cells.append(run([family], [cores[:1]], given.seconds))
            if cells[0]["rate"]:
                pair = [cores[:1], cores[1:2] or cores[:1]]
                cells.append(run([family] * 2, pair, given.seconds))
        row = [show(cell) for cell in cells]
        if gpu and "int8" not in family:  # which is for processors
            cells.append(run([family], [cores], given.seconds, at_once=256, device="cuda"))
            row += [f"{cells[-1]['rate']:,.0f}", f"{cells[-1]['gpu_mib']:.0f}"]
        print(f"{family:16}" + "".join(f"{cell:>16}" for cell in row), flush=True)
        for problem in {cell["problem"] for cell in cells if cell.get("problem")}:
            print(f"    {problem}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


def see_gpu() -> str:
    """Name the GPU that torch sees, if any."""
    code = "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def show(cell: dict[str, Any]) -> str:
    if not cell["rate"]:
        return "–"
    digits = 0 if cell["own_rate"] >= 20 else 1
    return f"{cell['own_rate']:,.{digits}f} ({cell['rate']:,.{digits}f})"


def run(
    families: list[str],
    cores: list[list[int]],
    seconds: float,
    *,
    at_once: int = 8,
    device: str = "cpu",
) -> dict[str, Any]:
    """Measure in processes side by side, each on its cores; give the sum of their rates."""
    children = []
    for family, own in zip(families, cores, strict=True):
        words = [sys.executable, __file__, "--child", family, "--seconds", str(seconds)]
        threads = str(len(own) if device == "cuda" else 1)
        env = os.environ | {"FABULA_THREADS": threads, "FABULA_DEVICE": device}
        # What another has computed is not read from the disk, nor kept for the next.
        env["FABULA_VECTORS_MB"] = "0"
        if device == "cpu":
            env["CUDA_VISIBLE_DEVICES"] = ""
        child = subprocess.Popen(
            [*words, "--at-once", str(at_once)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.sched_setaffinity(child.pid, own)
        children.append(child)
    cells = [read_cell(child) for child in children]
    problem = next((cell["problem"] for cell in cells if cell.get("problem")), "")
    rate = 0.0 if problem else sum(cell["rate"] for cell in cells)
    own_rate = 0.0 if problem else sum(cell["own_rate"] for cell in cells)
    told = {"rate": rate, "own_rate": own_rate, "problem": problem}
    return told | {"gpu_mib": cells[0].get("gpu_mib", 0.0)}


def read_cell(child: subprocess.Popen[str]) -> dict[str, Any]:
    try:
        said, wrong = child.communicate(timeout=_TIMEOUT_S)
        cell: dict[str, Any] = json.loads(said.splitlines()[-1])
        return cell
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return {"rate": 0.0, "problem": f"no figure within {_TIMEOUT_S} s"}
    except (ValueError, IndexError):
        return {"rate": 0.0, "problem": (wrong.strip().splitlines() or ["it failed"])[-1][:200]}


def measure(family: str, seconds: float, at_once: int) -> dict[str, Any]:
    """Read stories for so many seconds, in chunks as a worker does; give how many a second."""
    from large_run import make_stories

    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.engine import Engine
    from fabula.scoring.survey import survey

    metrics = choose_metrics(FAMILIES[family])
    if absent := [metric.absence for metric in metrics if metric.absence]:
        return {"rate": 0.0, "problem": absent[0]}
    pool = make_stories(2048)
    surveyed, stories = survey(pool, metrics), repeat_stories(pool)
    engine = Engine(metrics, surveyed, at_once=at_once, check=False)
    began, began_own, done, failed = 0.0, 0.0, 0, ""
    for turn in range(1_000_000):
        if turn == 1:  # what went before was to load models and warm up
            began, began_own, done = time.perf_counter(), time.process_time(), 0
        chunk = list(islice(stories, at_once))
        bad = [score for _, score in engine.run(chunk) if score.status == "failed"]
        failed = failed or (bad[0].note if bad else "")
        done += len(chunk)
        if turn and time.perf_counter() - began > seconds:
            break
    rate = done / (time.perf_counter() - began)
    own_rate = done / (time.process_time() - began_own)
    torch = sys.modules.get("torch")
    gpu = torch.cuda.max_memory_allocated() / 2**20 if torch and torch.cuda.is_available() else 0.0
    return {"rate": rate, "own_rate": own_rate, "gpu_mib": gpu, "problem": failed}


def repeat_stories(pool: list[Story]) -> Iterator[Story]:
    """Go through stories again and again, each time others: readers remember what they read."""
    yield from pool
    for turn in count(1):
        for story in pool:
            yield replace(story, text=f"{story.text} {turn}")


if __name__ == "__main__":
    main()
