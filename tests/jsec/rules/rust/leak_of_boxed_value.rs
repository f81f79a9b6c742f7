pub fn intern(names: &[String]) -> Vec<&'static str> {
    let mut kept = Vec::new();
    for name in names {
        kept.push(Box::leak(name.clone().into_boxed_str()) as &str); // expect: leak-of-boxed-value
    }
    kept
}

pub fn once(name: String) -> &'static str {
    Box::leak(name.into_boxed_str()) // expect: leak-of-boxed-value
}

pub fn shared(name: String) -> std::sync::Arc<str> {
    std::sync::Arc::from(name) // ok
}

fn main() {
    let config: &'static Config = Box::leak(Box::new(load())); // ok
    run(config);
}
