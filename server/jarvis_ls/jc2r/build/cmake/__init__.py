"""Interpret `CMakeLists.txt`."""
