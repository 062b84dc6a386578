"""How the weights of learned metrics are made: recipes in, folders of weights out."""
