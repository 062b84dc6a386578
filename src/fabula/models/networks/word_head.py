"""The layer that makes logits of a causal model's states: asked alone, of those states that count.

Logits of a whole vocabulary are the largest thing that a small model computes. Where few of them
are wanted, the states of the others need not pass the head at all.
"""

from __future__ import annotations

from typing import Any

_PROBE = (1, 2, 3)


def find_word_head(net: Any) -> Any | None:
    """Give the layer whose outputs are the model's logits as they are; None where there is none.

    Some models scale or bound them afterwards: whether this one does is tried out.
    """
    import torch

    if (head := net.get_output_embeddings()) is None:
        return None
    was_training = net.training
    net.eval()
    with torch.no_grad():
        ids = torch.tensor([_PROBE], device=net.device)
        states = net.base_model(input_ids=ids, use_cache=False).last_hidden_state
        logits = net(input_ids=ids, use_cache=False).logits
        is_alone = torch.allclose(head(states), logits, rtol=1e-3, atol=1e-3)
    net.train(was_training)
    return head if is_alone else None
