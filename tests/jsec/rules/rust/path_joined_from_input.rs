use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub fn read_name(root: &Path) -> String {
    let mut name = String::new();
    std::io::stdin().read_line(&mut name);
    fs::read_to_string(root.join(name.trim())) // expect: path-joined-from-input
        .unwrap_or_default()
}

pub async fn serve(root: &Path, name: web::Query<String>) -> File {
    let path = root.join(name.as_str()); // expect: path-joined-from-input
    File::open(path) // ok
}

pub fn from_request(request: &Request, base_dir: &Path) -> PathBuf {
    let name = request.param("name");
    let mut path = PathBuf::from(base_dir);
    path.push(name); // expect: path-joined-from-input
    path
}

pub fn only_name(request: &Request, base_dir: &Path) -> Option<PathBuf> {
    let name = Path::new(request.param("name")).file_name()?;
    Some(base_dir.join(name)) // ok
}

pub fn tested(request: &Request, base_dir: &Path) -> Option<PathBuf> {
    let name = request.param("name");
    if name.contains("..") || name.starts_with('/') {
        return None;
    }
    Some(base_dir.join(name)) // ok
}

pub fn fixed(base_dir: &Path) -> PathBuf {
    base_dir.join("config.toml") // ok
}

pub fn parameter(base_dir: &Path, name: &str) -> PathBuf {
    base_dir.join(name) // ok
}

pub fn list(request: &Request, names: &mut Vec<String>) {
    names.push(request.param("name")); // ok
}

pub fn numbered() -> std::io::Result<Vec<u8>> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let id: u32 = line.trim().parse().unwrap_or(0);
    std::fs::read(format!("/var/data/{}", id)) // ok
}
