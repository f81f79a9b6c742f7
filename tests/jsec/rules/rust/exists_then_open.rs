use std::fs::{self, File};

pub fn create(path: &Path) -> File {
    if !path.exists() {
        return File::create(path).unwrap_or_else(fail); // expect: exists-then-open
    }
    open(path)
}

pub fn remove(path: &Path) {
    if path.is_file() {
        fs::remove_file(&path); // expect: exists-then-open
    }
}

pub fn create_new(path: &Path) -> File {
    OpenOptions::new().write(true).create_new(true).open(path).unwrap_or_else(fail) // ok
}

pub fn other(path: &Path, log: &Path) {
    if path.exists() {
        fs::write(log, "found"); // ok
    }
}

pub fn untested(path: &Path) {
    fs::remove_file(path); // ok
}
