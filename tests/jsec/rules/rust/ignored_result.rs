use std::fs;

pub fn protect(path: &Path) -> Result<(), Error> {
    let _ = fs::set_permissions(path, tight()); // expect: ignored-result
    fs::remove_file(path).ok(); // expect: ignored-result
    Ok(())
}

pub fn save(file: &mut File, bytes: &[u8]) {
    let _ = file.write_all(bytes); // expect: ignored-result
    file.sync_all().ok(); // expect: ignored-result
}

pub fn handled(file: &mut File, bytes: &[u8]) -> Result<(), Error> {
    file.write_all(bytes)?; // ok
    let _ = computed(); // ok
    let written = file.write(bytes)?; // ok
    Ok(())
}

pub fn terminal() {
    let _ = std::io::stderr().write_all(b"x"); // ok
}

pub fn converted(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok() // ok
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // ok
    }
}

pub fn on_the_way_out(path: &Path) -> Result<(), Error> {
    if let Err(error) = fill(path) {
        let _ = fs::remove_file(path); // ok
        return Err(error);
    }
    let _ = fs::remove_file(path); // expect: ignored-result
    Ok(())
}

pub fn synced(file: &mut std::fs::File, bytes: &[u8]) -> std::io::Result<()> {
    let _ = file.write_all(bytes); // expect: ignored-result
    file.sync_all()
}
