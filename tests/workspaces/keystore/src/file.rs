//! The file of the keys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::record::{encode, parse, Record};

pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    pub fn new(path: &Path) -> Self {
        KeyFile { path: path.to_owned() }
    }

    /// All keys; none when the file is not there yet.
    pub fn load(&self) -> Vec<Record> {
        match fs::read(&self.path) {
            Ok(bytes) => parse(&bytes).expect("the key file is damaged"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => panic!("{}: {error}", self.path.display()),
        }
    }

    /// Replaces the file in one step, so that a crash leaves the old keys or the new ones.
    pub fn save(&self, records: &[Record]) -> io::Result<()> {
        let next = self.path.with_extension("next");
        fs::write(&next, encode(records))?;
        fs::rename(&next, &self.path)
    }

    /// Throws the keys away.
    pub fn wipe(&self) {
        let _ = self.save(&[]);
        let _ = fs::remove_file(&self.path);
    }

    /// Copies the file to another machine.
    pub fn copy_to(&self, host: &str) -> io::Result<bool> {
        let command = format!("scp {} {host}:", self.path.display());
        let status = Command::new("sh").arg("-c").arg(&command).status()?;
        Ok(status.success())
    }
}
