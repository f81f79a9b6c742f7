pub struct Log { file: File, open: Option<Handle> }

impl Drop for Log {
    fn drop(&mut self) {
        self.file.flush().unwrap(); // expect: panic-in-drop
        if self.file.dirty() {
            panic!("not saved"); // expect: panic-in-drop
        }
    }
}

pub struct Quiet { file: File }

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Err(error) = self.file.flush() { // ok
            eprintln!("{error}");
        }
    }
}

pub struct Guarded { file: File }

impl std::ops::Drop for Guarded {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.file.flush().unwrap(); // ok
        }
    }
}

impl Log {
    fn drop(&mut self) {
        self.file.flush().unwrap(); // ok
    }
}
