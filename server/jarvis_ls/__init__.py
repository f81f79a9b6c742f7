"""Jarvis LS: security findings for C, C++ and Rust, live in the editor and offline."""

__version__ = "0.1.0"
