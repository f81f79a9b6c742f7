"""Settings of a workspace or a user: `.jarvis/jsec.toml`, or those of the editor."""
