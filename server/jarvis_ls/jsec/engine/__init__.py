"""Run the rules over one file and decide which reports a user sees."""
