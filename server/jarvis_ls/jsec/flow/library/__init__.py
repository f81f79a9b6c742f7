"""Tables: what the functions of the C and Rust libraries, and those a user names, do."""
