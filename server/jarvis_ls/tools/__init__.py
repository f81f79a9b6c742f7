"""The built-in tools, one a file; file, function and tool share a name."""
