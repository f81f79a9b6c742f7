"""The messages beyond the language server protocol, and the TypeScript made from them."""
