"""StoryER's joint model: an encoder-decoder that ranks, rates and comments.

Linear heads on the encoder's first state give preference, ratings and confidences of aspects; the
decoder writes comments. Its folder holds `joint.json` (`config`) beside what transformers saves. To
metrics it is a reader like others; `network` opens it as one, or as a writer.
"""
