"""What each language's tree says: items, calls, functions, macros, declarations."""
