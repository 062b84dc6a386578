"""How far raters agree: coefficients, figures by rater, and what their noise allows."""
