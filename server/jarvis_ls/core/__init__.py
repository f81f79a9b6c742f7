"""Plain records and services that know nothing of parsing, rules or editors."""
