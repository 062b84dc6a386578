"""Floor 3: language models as raters; one way of asking a file, prompts and rubrics beside them."""
