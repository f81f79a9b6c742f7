const API_KEY: &str = "9f8a7c6b5d4e3f2a1b0c"; // expect: secret-in-code
static DB_PASSWORD: &str = "hunter2hunter2"; // expect: secret-in-code

pub fn login() -> Session {
    let password = "correct horse battery"; // expect: secret-in-code
    connect(password)
}

pub fn config() -> Config {
    Config {
        secret: "c2VjcmV0LXNlY3JldA==".to_string(), // expect: secret-in-code
        name: "server".to_string(), // ok
    }
}

pub fn aws() {
    authorize("AKIAQ3EGRIU7XH2LMN5P"); // expect: secret-in-code
}

pub fn from_environment() -> Result<Session, Error> {
    let password = std::env::var("PASSWORD")?; // ok
    connect(&password)
}

const PASSWORD_FIELD: &str = "password"; // ok
const TOKEN_HEADER: &str = "X-Auth-Token"; // ok
const API_KEY_ENV: &str = "SERVICE_API_KEY"; // ok
const PASSWORD_PROMPT: &str = "Enter your password: "; // ok

pub fn empty() {
    let password = ""; // ok
    let token = "<your token here>"; // ok
    keep(password, token);
}
