"""What functions of the C library, POSIX, pthread and C++ do, as data."""
