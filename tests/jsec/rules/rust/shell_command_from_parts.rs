use std::process::Command;

pub fn unpack(name: &str) {
    Command::new("sh").arg("-c").arg(format!("tar xf {name}")).status(); // expect: shell-command-from-parts
}

pub fn unpack_array(name: &str) {
    let command = format!("tar xf {}", name);
    Command::new("/bin/bash")
        .args(["-c", &command]) // expect: shell-command-from-parts
        .status();
}

pub fn unpack_variable(name: &str) {
    let mut shell = Command::new("sh");
    shell.arg("-c");
    shell.arg(name); // expect: shell-command-from-parts
    shell.status();
}

pub fn c_system(line: *const i8) {
    unsafe { libc::system(line) }; // expect: shell-command-from-parts
}

pub fn direct(name: &str) {
    Command::new("tar").arg("xf").arg("--").arg(name).status(); // ok
}

pub fn fixed() {
    Command::new("sh").arg("-c").arg("sync").status(); // ok
}

pub fn script(path: &str) {
    Command::new("sh").arg(path).status(); // ok
}
