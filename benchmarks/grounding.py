"""How well grounders find nouns: in labelled regions, and in sequences of pictures with texts.

    python benchmarks/grounding.py [GROUNDER …] --regions FOLDER --sequences FOLDER

Grounders are `embedded`, `labels`, a folder or a CLIP; the first two unless told otherwise.

Regions (a folder with `regions.jsonl` and the crops that it names, packed or not): of the test part
every crop ranks all nouns of that part; recall at k is the share of crops whose own noun is among
the first k, first over the crops of a noun, then over nouns, so that each noun counts the same.
Unseen nouns are those that no crop of the other parts shows. Intervals: 95 %, source pictures drawn
again 1,000 times.

Sequences (a folder with `sequences.jsonl` and pictures): a sequence is scored with every text, by
the mean over the text's nouns of the best match among all regions of its five pictures. Of a
sequence, how often its own text scores more than another one (`text`); of a text, how often its own
sequence does (`sequence`): among all others, and among those of its kind. Intervals: sequences
drawn again. The number of nouns is the baseline of a scorer that does not look.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.model import Region
from fabula.learned.grounding.chance import choose_blind
from fabula.learned.grounding.nouns import read_nouns
from fabula.learned.grounding.opening import open_grounder
from fabula.learned.grounding.recall import rank_own
from fabula.meta.resampling import draw_counts, estimate, number_units
from fabula.models import PictureReader

DRAWS = 1000
CUTS = (1, 10)
# By how many crops to learn from a noun has.
BANDS = ((0, 0), (1, 1), (2, 9), (10, 1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("grounders", nargs="*", default=["embedded", "labels"])
    parser.add_argument("--regions", type=Path)
    parser.add_argument("--sequences", type=Path)
    given = parser.parse_args()
    if given.regions:
        measure_regions(given.grounders, given.regions)
    if given.sequences:
        measure_sequences(given.grounders, given.sequences)


def measure_regions(specs: list[str], folder: Path) -> None:
    rows = read_lines(folder / "regions.jsonl")
    test = [row for row in rows if row["split"] == "test"]
    learned = Counter(row["noun"] for row in rows if row["split"] != "test")
    nouns = sorted({row["noun"] for row in test})
    units = number_units([(row["source"], row["image"]) for row in test])
    print(f"{len(test)} crops of {units.max() + 1} pictures, {len(nouns)} nouns", end="")
    print(f", {sum(noun not in learned for noun in nouns)} of them unseen")
    with tempfile.TemporaryDirectory() as scratch:
        crops = read_crops(folder, Path(scratch), [row["crop"] for row in test])
    places = {spec: rank_test(spec, crops, [row["noun"] for row in test], nouns) for spec in specs}
    own = [row["noun"] for row in test]
    groups = {
        "all": np.ones(len(test), bool),
        "seen": np.array([noun in learned for noun in own]),
        "unseen": np.array([noun not in learned for noun in own]),
    }
    for source in sorted({row["source"] for row in test}):
        groups[source] = np.array([row["source"] == source for row in test])
    for low, high in BANDS:
        name = f"{low} crops" if low == high else f"{low} to {high} crops"
        groups[name] = np.array([low <= learned[noun] <= high for noun in own])
    counts = draw_counts(int(units.max()) + 1, DRAWS, seed=0)[:, units]  # (draws, crops)
    for name, mask in groups.items():
        for cut in CUTS:
            cells, first = [], None
            for spec in specs:
                hits = (places[spec] < cut).astype(float)
                value, draws = macro(hits, own, mask, counts)
                cells.append(f"{spec} {show(value, draws, int(mask.sum()))}")
                if first is None:
                    first = value, draws
                else:
                    gain = show(first[0] - value, first[1] - draws, int(mask.sum()))
                    cells.append(f"gain {gain}")
            print(f"{name:18} @{cut:<3} n={mask.sum():<4} {'  '.join(cells)}")


def macro(hits: Any, nouns: list[str], mask: Any, counts: Any) -> tuple[float, Any]:
    """Mean over nouns of the mean over their crops, and the same in every draw.

    A crop weighs one by the number of its noun's crops, in draws as well: a mean over the nouns
    that a draw happens to hold would leave out most often those of a single crop.
    """
    kinds = number_units([noun for noun, kept in zip(nouns, mask, strict=True) if kept])
    weights = 1 / np.bincount(kinds)[kinds]  # (crops,)
    drawn = np.concatenate([np.ones((1, int(mask.sum()))), counts[:, mask]]) * weights
    totals = drawn.sum(axis=1)
    # A draw may hold no crop of a small group.
    values = np.where(totals > 0, drawn @ hits[mask] / np.maximum(totals, 1e-12), np.nan)
    return float(values[0]), values[1:]


def show(value: float, draws: Any, n: int) -> str:
    found = estimate(value, draws, n=n)
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def rank_test(spec: str, crops: list[Any], own: list[str], nouns: list[str]) -> Any:
    """Places of the crops' own nouns; a crop is a region of itself, named by nobody."""
    grounder: Any = open_grounder(spec)
    if grounder.absence:
        sys.exit(grounder.absence)
    matcher = grounder.parts.matcher
    names, rows = matcher.name(nouns), []
    for start in range(0, len(crops), 64):
        part = crops[start : start + 64]
        views = matcher.view(part, [Region((0.0, 0.0, 1.0, 1.0))] * len(part))
        rows.append(matcher.match(views, names))
    return rank_own(np.concatenate(rows), [nouns.index(noun) for noun in own])


def read_crops(folder: Path, scratch: Path, names: list[str]) -> list[Any]:
    """Pixels of crops, out of crops.tar where they are packed."""
    if (folder / "crops.tar").is_file():
        with tarfile.open(folder / "crops.tar") as archive:
            archive.extractall(scratch, filter="data")
        folder = scratch
    reader = PictureReader()
    return [reader.read(folder / name).pixels for name in names]


def measure_sequences(specs: list[str], folder: Path) -> None:
    rows = read_lines(folder / "sequences.jsonl")
    texts = [
        [noun.text for noun in read_nouns(" ".join(row.get("story") or row["captions"]))]
        for row in rows
    ]
    kinds = np.array([row["kind"] for row in rows])
    reader = PictureReader()
    print(f"{len(rows)} sequences, {np.mean([len(nouns) for nouns in texts]):.0f} nouns a text")
    scores = {"number of nouns": np.tile([len(nouns) for nouns in texts], (len(rows), 1))}
    for spec in specs:
        grounder = open_grounder(spec)
        if grounder.absence:
            sys.exit(grounder.absence)
        blind = choose_blind()
        nouns = sorted({noun for text in texts for noun in text} | set(blind))
        best, drawn = [], []
        for row in rows:
            pictures = reader.read_all([folder / name for name in row["images"]])
            sights = grounder.look(pictures, nouns)
            best.append(np.max([sight.similarities.max(axis=0) for sight in sights], axis=0))
            drawn.append(np.mean([any("drawing" in n for n in sight.notes) for sight in sights]))
        scores[spec] = score_texts(np.array(best), texts, nouns)
        shares = share_blind(np.array(best), [nouns.index(noun) for noun in blind])
        scores[f"{spec}, beyond chance"] = score_texts(shares, texts, nouns)
        for kind in sorted(set(kinds)):
            share = np.mean(np.array(drawn)[kinds == kind])
            print(f"{spec}: pictures of {kind} that are taken for drawings: {share:.2f}")
    for kind in sorted(set(kinds)):
        for spec, table in scores.items():
            print(f"{kind:26} {spec:26} {compare(table, kinds == kind)}")


def score_texts(best: Any, texts: list[list[str]], nouns: list[str]) -> Any:
    """Mean best match of a text's nouns in the pictures of a sequence: (sequences, texts)."""
    places = {noun: place for place, noun in enumerate(nouns)}
    return np.stack(
        [np.nanmean(best[:, [places[noun] for noun in text]], axis=1) for text in texts], axis=1
    )


def share_blind(best: Any, blind: list[int]) -> Any:
    """Share of blind nouns that match a sequence's pictures worse than each noun: as `best`."""
    there = [place for place in blind if not np.isnan(best[:, place]).any()]
    others = best[:, None, there]  # (sequences, 1, blind)
    worse = (others < best[:, :, None]).mean(axis=2) + (others == best[:, :, None]).mean(axis=2) / 2
    return np.where(np.isnan(best), np.nan, worse)


def compare(table: Any, mine: Any) -> str:
    """Share of pairs that are put right, either way, among all others and among one's kind."""
    own = np.diag(table)
    ways = {
        "text": (own[:, None] > table) + 0.5 * (own[:, None] == table),
        "sequence": (own[None] > table).T + 0.5 * (own[None] == table).T,
    }
    cells = []
    for among, others in (("all", np.ones(len(own), bool)), ("kind", mine)):
        for way, wins in ways.items():
            apart = others[None] & ~np.eye(len(own), dtype=bool)
            shares = np.where(apart, wins, 0.0).sum(1) / apart.sum(1)  # (sequences,)
            shares = shares[mine]
            draws = draw_counts(len(shares), DRAWS, seed=0) @ shares / len(shares)
            cells.append(f"{way} of {among} {show(float(shares.mean()), draws, len(shares))}")
    return "  ".join(cells)


def read_lines(path: Path) -> list[dict[str, Any]]:
    packed = path.with_name(f"{path.name}.gz")
    data = gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


if __name__ == "__main__":
    main()
