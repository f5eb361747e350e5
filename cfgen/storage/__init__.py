"""The benchmark directory: store, plan, listing, people's ratings."""
