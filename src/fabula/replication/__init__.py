"""Floor 6: papers again: their tables, figures and checks. No other room but `cli` knows it."""
