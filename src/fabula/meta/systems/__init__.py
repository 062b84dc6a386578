"""Which system is better: means, labels by bootstrap, choices and strengths."""
