"""OpenClaw's settings, skills and sessions, made ours."""
