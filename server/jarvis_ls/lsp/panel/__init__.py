"""The side panel: chat, agents, files, memories and settings, between editor and runtime."""
