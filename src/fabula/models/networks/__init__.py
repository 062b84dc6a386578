"""Networks by what they can do: encode, write, turn a source into a text, fill gaps, answer.

The backends (`embedded`, `huggingface`) find the weights and hand them to one of these. `bert` and
`encoder` are our own and read without padding; the others are transformers' (`checkpoint` loads
them), but for the T5 in ONNX. torch is imported when a network is asked, never before.
"""
