"""The abstract interpreter: transfer functions, branch refinement and the fixpoint over blocks."""
