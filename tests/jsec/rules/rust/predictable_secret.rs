use rand::rngs::SmallRng;

pub fn session_token(now: u64) -> u64 {
    let mut rng = SmallRng::seed_from_u64(now); // expect: predictable-secret
    rng.gen()
}

pub fn reset(user: &mut User) {
    let password = fastrand::alphanumeric(); // expect: predictable-secret
    user.set(password);
}

pub fn api_key() -> StdRng {
    StdRng::seed_from_u64(42) // expect: predictable-secret
}

pub fn dice() -> u32 {
    fastrand::u32(1..7) // ok
}

pub fn secure_token() -> u64 {
    OsRng.gen() // ok
}

pub fn through_variable() -> u32 {
    let mut rng = StdRng::seed_from_u64(1234); // expect: predictable-secret
    let token: u32 = rng.gen();
    token
}
