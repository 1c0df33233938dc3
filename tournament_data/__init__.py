"""Which puzzle sets exist; generating, finding and fetching them."""
