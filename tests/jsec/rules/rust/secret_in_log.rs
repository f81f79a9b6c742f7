pub fn login(user: &str, password: &str) {
    info!("login of {user} with {password}"); // expect: secret-in-log
    println!("{} {}", user, password); // expect: secret-in-log
    tracing::debug!("token {:?}", session.auth_token); // expect: secret-in-log
}

pub fn quiet(user: &str, password: &str) {
    info!("login of {user}"); // ok
    info!("password has {} characters", password.len()); // ok
    println!("Enter your password:"); // ok
}

pub fn parser(token: &Token) {
    debug!("unexpected {:?}", token); // ok
}
