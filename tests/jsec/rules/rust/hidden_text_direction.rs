pub fn access(level: &str) -> bool {
    level == "user‮" // expect: hidden-text-direction
}

pub fn zero​width() {} // expect: hidden-text-direction

pub fn plain(level: &str) -> bool {
    level == "用户" // ok
}

pub fn escaped(level: &str) -> bool {
    level == "\u{202e}" // ok
}
