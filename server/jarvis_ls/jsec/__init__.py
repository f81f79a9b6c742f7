"""jsec: security findings for C, C++ and Rust."""
