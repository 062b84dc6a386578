"""One ranking of metrics out of many correlations."""
