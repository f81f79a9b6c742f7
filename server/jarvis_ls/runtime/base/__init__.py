"""Records and small services that the whole runtime shares."""
