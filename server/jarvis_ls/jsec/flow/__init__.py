"""Analysis of flow: sizes, nullness, ownership and taint, within and across functions."""
