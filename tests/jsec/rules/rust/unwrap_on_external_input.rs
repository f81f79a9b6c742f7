use std::fs::File;

pub fn port(text: &str) -> u16 {
    text.parse().unwrap() // expect: unwrap-on-external-input
}

pub fn port_typed(text: &str) -> u16 {
    text.trim().parse::<u16>().expect("a number") // expect: unwrap-on-external-input
}

pub fn config(path: &str) -> Result<File, Error> {
    let file = File::open(path).unwrap(); // expect: unwrap-on-external-input
    Ok(file)
}

pub fn in_macro(bytes: &[u8]) {
    println!("{}", std::str::from_utf8(bytes).unwrap()); // expect: unwrap-on-external-input
}

pub fn handled(text: &str) -> Result<u16, Error> {
    let port = text.parse()?; // ok
    Ok(port)
}

pub fn fixed() -> std::net::IpAddr {
    "127.0.0.1".parse().unwrap() // ok
}

pub fn defaulted(text: &str) -> u16 {
    text.parse().unwrap_or(80) // ok
}

#[cfg(test)]
mod tests {
    #[test]
    fn parses() {
        let port: u16 = "80".to_string().trim().parse().unwrap(); // ok
        assert_eq!(port, std::env::var("PORT").unwrap().parse::<u16>().unwrap()); // ok
    }
}

impl Config {
    #[cfg(test)]
    fn load_for_test(path: &str) -> File {
        File::open(path).unwrap() // ok
    }
}

pub fn opened(path: &str) -> std::io::Result<File> {
    Ok(File::open(path).unwrap()) // expect: unwrap-on-external-input
}
