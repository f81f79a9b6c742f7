"""The rules, one file each. Adding a file here (and its fixture in tests) adds a rule."""
