"""Understanding source code: the only place that knows tree-sitter."""
