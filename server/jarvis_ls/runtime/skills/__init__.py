"""Skills: instructions for a kind of work, audited before any model reads them."""
