//! Keeps named keys in one file and hands them to programs written in C.

pub mod cache;
pub mod ffi;
pub mod file;
pub mod record;
