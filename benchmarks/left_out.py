"""Leave one corpus out: what is learned from all others, on people and stories never met.

    python benchmarks/left_out.py DATA [--encoder story_encoder] [--states FILE] [--penalty 0.1]
    python benchmarks/left_out.py DATA --weights plausible --corpora union,mans_roc

Surface features, and the states of an encoder that stays as it is, are fitted to the choices of
every corpus in the folder DATA but one, and measured on the one left out: the share of choices that
agree, beside the best trivial baseline of that very corpus, and the paired gain over it, items
drawn again. `--states` is a file of other states: `texts` and `states`, a row a text (.npz). With
`--weights` nothing is fitted: what these weights say of coherence is measured as it is, which is
fair where they have learned from none of the corpora.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fabula.learned.reader.inference import load_reader
from fabula.learned.training.choices import Choices, gather_choices
from fabula.learned.training.left_out import LeftOut, join_columns, leave_out, surface_columns
from fabula.models.networks.encoder import load_pooled_bert
from fabula.models.reading.windows import cut_evenly

Array = np.ndarray[Any, np.dtype[Any]]
WINDOW = 254
LAYOUT = ("log_paragraphs", "paragraph_length")
QUESTIONS = ("liked", "coherent")
# States are many: together they count about as much as four features.
STATES_WEIGHT, SURFACE_WEIGHT = 4.0, 0.5


def main() -> None:
    """Print both questions, for the surface, the states and both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="story_encoder")
    parser.add_argument("--states", type=Path)
    parser.add_argument("--penalty", type=float, default=0.1)
    parser.add_argument("--weights")
    parser.add_argument("--corpora", default="", help="their names, with commas; else all")
    given = parser.parse_args()
    corpora = gather_choices(given.data, [name for name in given.corpora.split(",") if name])
    if given.weights:
        measure_weights(given.weights, [one for one in corpora if one.question == "coherent"])
        return
    texts = list(dict.fromkeys(text for one in corpora for text in one.texts))
    rows = read_states(given.states) if given.states else encode(given.encoder, texts)
    states = {one.corpus: np.stack([rows[text] for text in one.texts]) for one in corpora}
    width = next(iter(states.values())).shape[1]
    surface = surface_columns(corpora, without=LAYOUT)
    weighed = states, STATES_WEIGHT / width**0.5
    for name, columns in {
        "surface features": join_columns((surface, 1.0)),
        "states": join_columns(weighed),
        "states and surface": join_columns(weighed, (surface, SURFACE_WEIGHT)),
    }.items():
        for question in QUESTIONS:
            asked = [one for one in corpora if one.question == question]
            if not asked:
                continue
            show(f"{question}, {name}", leave_out(asked, columns, penalty=given.penalty))


def measure_weights(weights: str, corpora: Sequence[Choices]) -> None:
    """Print how far what weights say of coherence agrees with the choices of corpora."""
    reader = load_reader(weights)
    columns = {one.corpus: reader.raw("coherence", one.texts)[:, None] for one in corpora}
    # One column, which counts as it is.
    show(f"coherent, {weights}", leave_out(corpora, columns, fit=lambda _: np.ones(1)))


def read_states(file: Path) -> Mapping[str, Array]:
    """Read states that were made elsewhere, by text."""
    with np.load(file, allow_pickle=False) as found:
        return dict(zip(found["texts"].tolist(), found["states"].astype(np.float64), strict=True))


def encode(name: str, texts: Sequence[str]) -> Mapping[str, Array]:
    """Give the mean over windows of an encoder's vector, by text."""
    encoder = load_pooled_bert(name)
    windows, owners = [], []
    for text in texts:
        ids = encoder.ids(text)
        for place in cut_evenly(len(ids), WINDOW):
            windows.append(ids[place.start : place.stop])
            owners.append(text)
    sums: dict[str, Any] = {text: np.zeros(encoder.width) for text in texts}
    counts = dict.fromkeys(texts, 0)
    for owner, vector in zip(owners, encoder.pool(windows).numpy(), strict=True):
        sums[owner] += vector
        counts[owner] += 1
    return {text: sums[text] / max(counts[text], 1) for text in texts}


def show(title: str, found: LeftOut) -> None:
    """Print a line a corpus, and the mean gain."""
    print(f"\n{title}")
    for one in found.held:
        gain = f"{one.gain.value:+.3f} [{one.gain.low:+.3f}, {one.gain.high:+.3f}]"
        print(
            f"  {one.corpus:<18} {one.choices:>6} choices  agrees {one.accuracy.value:.3f}  "
            f"{one.name:<24} {one.baseline:.3f}  gain {gain}"
        )
    mean = found.mean_gain
    print(f"  mean gain {mean.value:+.3f} [{mean.low:+.3f}, {mean.high:+.3f}]")


if __name__ == "__main__":
    main()
