"""Proof that the crate behaves like the C: generated inputs, recorded cases, planted mutants."""
