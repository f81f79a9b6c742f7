"""The symbols of a workspace in eight languages, who uses them, and what they are near to."""
