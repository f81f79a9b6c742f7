"""What users bring along: mentions, rules, predefined tasks, tools of their own."""
