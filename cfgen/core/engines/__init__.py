"""Who does pieces of work side by side: this process, processes of this machine, or the nodes of a Ray cluster."""
