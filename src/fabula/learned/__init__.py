"""Floor 3: metrics that load weights, and how those weights are trained."""
