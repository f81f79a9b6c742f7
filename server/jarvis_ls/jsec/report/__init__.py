"""Reports of a scan, one module a format."""
