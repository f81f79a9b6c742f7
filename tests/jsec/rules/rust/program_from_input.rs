use std::process::Command;

pub fn run_line() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line);
    Command::new(line.trim()).status(); // expect: program-from-input
}

pub fn run_argument() {
    let program = std::env::args().nth(1).unwrap_or_default();
    Command::new(&program).status(); // expect: program-from-input
}

pub fn run_known() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line);
    let program = match line.trim() {
        "zip" => "zip",
        _ => "tar",
    };
    Command::new(program).status(); // ok
}

pub fn run_fixed() {
    Command::new("tar").status(); // ok
}

pub fn run_parameter(program: &str) {
    Command::new(program).status(); // ok
}
