use libloading::Library;

pub fn plugin() -> Library {
    unsafe { Library::new("./plugins/codec.so") }.unwrap_or_else(fail) // expect: library-from-relative-path
}

pub fn chosen() -> Library {
    let path = std::env::args().nth(1).unwrap_or_default();
    unsafe { Library::new(&path) }.unwrap_or_else(fail) // expect: library-from-relative-path
}

pub fn absolute() -> Library {
    unsafe { Library::new("/usr/lib/app/codec.so") }.unwrap_or_else(fail) // ok
}

pub fn parameter(path: &Path) -> Library {
    unsafe { Library::new(path) }.unwrap_or_else(fail) // ok
}
