"""Scan a folder: files, worker processes, cache, records."""
