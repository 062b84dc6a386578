"""Figures as SVG: pure functions from data to text, without a plotting package."""
