use std::env;

pub async fn login(token: &str) {
    env::set_var("TOKEN", token); // expect: environment-changed-in-thread
}

pub fn start() {
    std::thread::spawn(work);
    std::env::remove_var("TOKEN"); // expect: environment-changed-in-thread
}

pub fn configure(value: &str) {
    env::set_var("MODE", value); // expect: environment-changed-in-thread
}

pub fn child(value: &str) {
    std::process::Command::new("tool").env("MODE", value).spawn(); // ok
}

pub fn own(settings: &mut Settings) {
    settings.set_var("MODE", "x"); // ok
}
