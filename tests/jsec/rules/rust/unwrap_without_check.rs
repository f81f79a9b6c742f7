use std::collections::HashMap;

pub fn user(users: &HashMap<u32, User>, id: u32) -> &User {
    users.get(&id).unwrap() // expect: unwrap-without-check
}

pub fn first(list: &[u8]) -> u8 {
    *list.first().expect("not empty") // expect: unwrap-without-check
}

pub fn in_format(name: Option<&str>) -> String {
    format!("{}", name.unwrap()) // expect: unwrap-without-check
}

pub fn tested(name: Option<&str>) -> usize {
    if name.is_some() {
        return name.unwrap().len(); // ok
    }
    0
}

pub fn key(users: &HashMap<u32, User>, id: u32) -> Option<&User> {
    if !users.contains_key(&id) {
        return None;
    }
    Some(users.get(&id).unwrap()) // ok
}

pub fn locked(counter: &std::sync::Mutex<u32>) -> u32 {
    *counter.lock().unwrap() // ok
}

pub fn pattern() -> Regex {
    Regex::new(r"^\d+$").unwrap() // ok
}

pub fn written(out: &mut String) {
    write!(out, "x").unwrap(); // ok
}

pub fn parser_expect(p: &mut Parser) {
    p.expect(Token::Open, "(").then(); // ok
}

const LIMIT: std::num::NonZeroU32 = std::num::NonZeroU32::new(5).unwrap(); // ok

#[test]
fn works() {
    find().unwrap(); // ok
}

pub fn parts(words: &[u32; 40]) -> [u32; 20] {
    words[20..40].try_into().unwrap() // ok
}

pub fn empty() -> CString {
    CString::new(Vec::new()).unwrap() // ok
}
