"""Plots: the keywords of each sentence of a story, and how the files of MANPLTS write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.core.errors import InputError
from fabula.learned.negatives.corpus import Corpus

Plot = tuple[tuple[str, ...], ...]

ROC_SEPARATOR = "#"
WP_SEPARATOR = "</s>"
_TITLE_END, _PLOT_END = "<EOT>", "<EOL>"


@dataclass(frozen=True)
class PlottedStory:
    """A line of the ROC files: a title, a plot and the story told from it."""

    title: str
    plot: Plot
    text: str


def plot_of(sentences: Sequence[str], corpus: Corpus, *, most: int | None = None) -> Plot:
    """Give the keywords of sentences: content words in their order, each once a sentence.

    Of more than `most` the rarest of the corpus are kept. A simple stand-in for RAKE, which the
    paper uses: single words, no phrases.
    """
    return tuple(_keywords(sentence, corpus, most) for sentence in sentences)


def parse_plot(line: str, *, separator: str | None = None) -> Plot:
    """Read a plot: keywords parted by tabs, sentences by `#` (ROC) or `</s>` (WP).

    Without a separator the line tells which it is. One separator at the end begins no sentence.
    """
    mark = separator or (WP_SEPARATOR if WP_SEPARATOR in line else ROC_SEPARATOR)
    parts = line.split(mark)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return tuple(tuple(word.strip() for word in part.split("\t") if word.strip()) for part in parts)


def format_plot(plot: Plot, *, separator: str = ROC_SEPARATOR) -> str:
    """Write a plot so that `parse_plot` reads it again."""
    for word in (word for sentence in plot for word in sentence):
        if separator in word or "\t" in word or not word.strip():
            raise InputError(f"keyword {word!r} cannot be written", f"leave out {separator}, tabs")
    line = f" {separator} ".join("\t".join(sentence) for sentence in plot)
    return line if plot and plot[-1] else f"{line} {separator}"


def parse_roc(line: str) -> PlottedStory:
    """Read a line `title <EOT> plot <EOL> story`; a stray @ at the end goes."""
    title, found, rest = line.rstrip("\n").partition(_TITLE_END)
    plot, ended, text = rest.partition(_PLOT_END)
    if not found or not ended:
        raise InputError(f"{line[:60]!r} has no {_TITLE_END} and {_PLOT_END}", "check the file")
    return PlottedStory(title.strip(), parse_plot(plot), text.rstrip(" @").strip())


def format_roc(story: PlottedStory) -> str:
    """Write a line `title <EOT> plot <EOL> story`."""
    return f"{story.title} {_TITLE_END} {format_plot(story.plot)} {_PLOT_END} {story.text}"


def _keywords(sentence: str, corpus: Corpus, most: int | None) -> tuple[str, ...]:
    words = list(dict.fromkeys(word.known for word in corpus.content_words(sentence)))
    kept = sorted(words, key=lambda word: (corpus.counts[word], word))[:most]
    return tuple(word for word in words if word in kept)
