"""Readers: small networks that were trained to read stories, and what metrics make of them.

A reader is an encoder with layers of its own, heads on top, and scales that turn what the heads say
into values. Its folder holds `reader.json` (`config`, `scales`) and `model.safetensors`
(`network`). `inference` loads it once a process and asks it once about a text, window by window;
`domain` warns of texts unlike those it learned from; `metric` is what the metrics of this room are
made of; `fake` stands in where no weights are wanted.
"""
