"""What models have read of stories, kept for the next request: an LRU cache bounded by bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any


def count_common(one: Sequence[int], other: Sequence[int]) -> int:
    """Count the tokens that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


class PrefixCache:
    """The last state of every story, as long as all of them fit into `most_bytes`.

    States are handed out as copies: a request that fails or is cancelled spoils nothing, and two
    requests of one story do not write into one another's.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.nbytes = 0
        self._states: OrderedDict[str, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, story: str) -> bool:
        return story in self._states

    def take(self, story: str, ids: Sequence[int]) -> Any | None:
        """Give a copy of what was read of the beginning of a text, or None.

        The last token of the text is never among it: to read it gives the logits to go on with.
        """
        if story not in self._states:
            return None
        self._states.move_to_end(story)
        state = self._states[story][0]
        common = min(count_common(state.ids, ids), len(ids) - 1)
        return state.copy(common) if common > 0 else None

    def keep(self, story: str, state: Any) -> None:
        """Keep a state instead of the story's last one; the least recently used give way.

        One that is larger than the whole cache is not kept, and the story's last one goes as well.
        """
        self.drop(story)
        if (size := state.nbytes) > self.most_bytes:
            return
        while self.nbytes + size > self.most_bytes:
            self.drop(next(iter(self._states)))
        self._states[story] = (state, size)
        self.nbytes += size

    def drop(self, story: str) -> None:
        """Forget a story."""
        _, size = self._states.pop(story, (None, 0))
        self.nbytes -= size

    def clear(self) -> None:
        """Forget all."""
        self._states.clear()
        self.nbytes = 0
