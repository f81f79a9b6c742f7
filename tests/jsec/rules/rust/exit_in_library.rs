use std::process;

pub fn load(path: &str) -> Config {
    match read(path) {
        Some(config) => config,
        None => process::exit(1), // expect: exit-in-library
    }
}

pub fn load_checked(path: &str) -> Result<Config, Error> {
    read(path).ok_or(Error::Missing) // ok
}

pub fn die(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2) // ok
}

pub fn leave(scope: &Scope) {
    scope.exit(); // ok
}
