"""How much of what a co-author writes is wanted: ranges, trimming, words that are covered."""
