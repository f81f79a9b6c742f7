"""Run the stages of a migration and say how far it is."""
