"""RUBER's model: a small network on a frozen encoder that says whether a story answers a prompt.

Its folder holds `ruber.json` and `model.safetensors`; `network` is all there is to it.
"""
