"""10,000 stories × all string metrics: time, peak memory, and what dominates.

    python benchmarks/large_run.py [STORIES]

Stories of about 250 words are put together from sentences of the example stories, for 4 systems.
The run is a process of its own with an empty cache; what each metric takes is measured on a
sample in this process.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fabula import Story, evaluate, load_dataset
from fabula.scoring.catalogue import choose_metrics
from fabula.text.sentences import split_sentences

SAMPLE = 200
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
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    stories = make_stories(count)
    words = sum(len(story.text.split()) for story in stories) / len(stories)
    print(f"{count:,} stories of {words:.0f} words on average")
    show_run(stories)
    show_shares(stories[:SAMPLE])


def make_stories(count: int) -> list[Story]:
    """Stories of four systems; those of an item share prompt and reference."""
    chance = random.Random(0)
    examples = load_dataset("examples").stories
    pool = {
        system: [line for s in examples if s.system == system for line in split_sentences(s.text)]
        for system in dict.fromkeys(story.system for story in examples)
    }
    prompts = [story.prompt for story in examples]
    made = []
    for item in range(-(-count // len(pool))):
        prompt, reference = chance.choice(prompts), write(pool["human"], chance)
        for system, lines in pool.items():
            text = write(lines, chance)
            made.append(
                Story(f"{item}-{system}", text, prompt, (reference,), (), system, str(item))
            )
    return made[:count]


def write(lines: list[str], chance: random.Random) -> str:
    size, words = chance.randint(180, 320), 0
    found: list[str] = []
    while words < size:
        found.append(chance.choice(lines))
        words += len(found[-1].split())
    return " ".join(found)


def show_run(stories: list[Story]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stories.jsonl"
        with file.open("w", encoding="utf-8") as out:
            for s in stories:
                row = {"id": s.id, "text": s.text, "prompt": s.prompt, "system": s.system}
                row |= {"item": s.item, "references": list(s.references)}
                out.write(json.dumps(row) + "\n")
        args = ["score", str(file), "-m", "strings", "-o", f"{folder}/run", "--no-report"]
        args += ["--cache", f"{folder}/cache.sqlite", "-q"]
        for what in ("first run", "again, from the cache"):
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", RUN, *args], capture_output=True, text=True, check=True
            )
            seconds = time.perf_counter() - began
            peak = int(done.stderr.split()[-2]) / 1024
            rate = len(stories) / seconds
            print(f"{what:24} {seconds:7.1f} s  {rate:7.0f} stories/s  peak {peak:.0f} MiB")


def show_shares(stories: list[Story]) -> None:
    """Time of each metric on a sample, the slowest first."""
    taken = {}
    for metric in choose_metrics("strings"):
        evaluate(stories[:8], metric)
        began = time.perf_counter()
        evaluate(stories, metric)
        taken[metric.spec] = (time.perf_counter() - began) / len(stories)
    total = sum(taken.values())
    print(f"by metric, on {len(stories)} stories, {total * 1e3:.2f} ms a story together:")
    for spec, seconds in sorted(taken.items(), key=lambda one: -one[1])[:12]:
        print(f"  {spec:24} {seconds * 1e6:7.0f} µs  {seconds / total:5.1%}")


if __name__ == "__main__":
    main()
