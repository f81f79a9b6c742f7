use std::fs::{self, File, OpenOptions};

pub fn log() -> File {
    File::create("/tmp/server.log").unwrap_or_else(fail) // expect: fixed-name-in-temp-dir
}

pub fn note(text: &str) {
    let path = "/var/tmp/note.txt";
    fs::write(path, text); // expect: fixed-name-in-temp-dir
}

pub fn per_process(text: &str) {
    fs::write(format!("/tmp/app-{}.txt", std::process::id()), text); // expect: fixed-name-in-temp-dir
}

pub fn joined() -> PathBuf {
    std::env::temp_dir().join("app.lock") // expect: fixed-name-in-temp-dir
}

pub fn own_folder(text: &str) {
    fs::write("/var/lib/app/note.txt", text); // ok
}

pub fn unique() -> NamedTempFile {
    tempfile::NamedTempFile::new().unwrap_or_else(fail) // ok
}

pub fn random(name: &str) -> PathBuf {
    std::env::temp_dir().join(name) // ok
}
