"""The intermediate representation: basic blocks of instructions over typed expressions."""
