"""The agent runtime: messages, models, tools, sessions, trees of agents. Async only."""
