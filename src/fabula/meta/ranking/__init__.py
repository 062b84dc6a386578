"""Which metric, and which system, is better: rankings, means, labels by bootstrap, strengths."""
