"""What agents remember: for a session, for a project, for a user."""
