"""RUBER's model: a small network on a frozen encoder that says whether a story answers a prompt.

Its folder holds `ruber.json` and `model.safetensors` (`network`); `inference` puts it on its
encoder and keeps the vectors of the last texts.
"""
