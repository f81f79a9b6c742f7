
#[cfg(test)]
mod jsec_probe {
    #![allow(warnings)]
    extern crate std;
    use super::*;
    use std::prelude::v1::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::{eprintln, format, vec};

    static NOW: AtomicUsize = AtomicUsize::new(0);
    static FOUND: AtomicUsize = AtomicUsize::new(0);

    fn number(name: &str) -> Option<usize> {
        std::env::var(name).ok().and_then(|text| text.parse().ok())
    }

    struct Shown<T>(T);

    trait ByDebug {
        fn text(&self) -> std::string::String;
    }

    impl<T: std::fmt::Debug> ByDebug for Shown<T> {
        fn text(&self) -> std::string::String {
            format!("{:.1000?}", self.0)
        }
    }

    trait ByNothing {
        fn text(&self) -> std::string::String;
    }

    // Chosen for types without `Debug`, since it needs one reference more.
    impl<T> ByNothing for &Shown<T> {
        fn text(&self) -> std::string::String {
            std::string::String::new()
        }
    }

    // JSEC_CASE=N carries one case out, with JSEC_RESULT its result is printed. Without it all of them are, from JSEC_FROM on, until a few have
    // panicked on the lines JSEC_FIRST to JSEC_LAST of a file whose path ends in JSEC_FILE.
    #[test]
    fn run() {
        if let Some(only) = number("JSEC_CASE") {
            if only < CASES.len() {
                call(CASES[only]);
            }
            return;
        }
        let first = number("JSEC_FIRST").unwrap_or(0) as u32;
        let last = number("JSEC_LAST").unwrap_or(0) as u32;
        let file = std::env::var("JSEC_FILE").unwrap_or_default();
        std::panic::set_hook(std::boxed::Box::new(move |told| {
            if let Some(place) = told.location() {
                if first <= place.line() && place.line() <= last && place.file().ends_with(&file) {
                    eprintln!("\nHARNESS: case {}", NOW.load(SeqCst));
                    FOUND.fetch_add(1, SeqCst);
                }
            }
        }));
        for at in number("JSEC_FROM").unwrap_or(0)..CASES.len() {
            NOW.store(at, SeqCst);
            eprintln!("\nHARNESS: at {}", at);
            let _ = std::panic::catch_unwind(|| call(CASES[at]));
            if FOUND.load(SeqCst) > 3 {
                break;
            }
        }
        eprintln!("\nHARNESS: end");
    }
