"""What texts are about: topics as directions of word vectors, LDA beside them, and their use."""
