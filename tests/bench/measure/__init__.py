"""What the benchmarks share: the tree they measure on, what a process costs, the table."""
