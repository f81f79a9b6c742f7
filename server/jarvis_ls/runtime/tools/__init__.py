"""What a tool is, and the gate every call of a tool passes."""
