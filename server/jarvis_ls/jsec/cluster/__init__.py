"""Scanning on a Dask cluster."""
