"""StoryER's joint model: an encoder-decoder, or a causal model, that ranks, rates and comments.

Linear heads on the state that has seen the whole text give preference, ratings and confidences of
aspects; the comment is written by the decoder, or after the text. Its folder holds `joint.json`
(`config`) beside what transformers saves. `backbone` is what it stands on; to metrics it is a
reader like others, and `network` opens it as one, or as a writer.
"""
