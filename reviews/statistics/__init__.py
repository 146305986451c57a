"""Statistics of reviews: when a campaign may stop; numbers in, numbers out; no Django."""
