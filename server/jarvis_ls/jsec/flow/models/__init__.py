"""What functions of the C library, POSIX, pthread, C++ and Rust do, as data."""
