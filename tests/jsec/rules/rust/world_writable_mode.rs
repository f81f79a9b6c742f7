use std::fs::{self, OpenOptions, Permissions};

const OPEN: u32 = 0o666;

pub fn open_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)); // expect: world-writable-mode
}

pub fn create(path: &Path) -> File {
    OpenOptions::new().write(true).create(true).mode(0o666).open(path) // expect: world-writable-mode
}

pub fn named(permissions: &mut Permissions) {
    permissions.set_mode(OPEN); // expect: world-writable-mode
}

pub fn mask() {
    unsafe { libc::umask(0) }; // expect: world-writable-mode
}

pub fn tight(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o750)); // ok
}

pub fn sticky(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o1777)); // ok
}

pub fn other(canvas: &mut Canvas) {
    canvas.mode(2); // ok
}
