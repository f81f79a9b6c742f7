"""The symbol table of a C project, who refers to whom, and the order of translation."""
