
#[cfg(test)]
mod jsec_probe {
    #![allow(warnings)]
    extern crate std;
    use super::*;
    use std::prelude::v1::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::{eprintln, format, vec};

    static JSEC_NOW: AtomicUsize = AtomicUsize::new(0);
    static JSEC_FOUND: AtomicUsize = AtomicUsize::new(0);

    fn jsec_number(name: &str) -> Option<usize> {
        std::env::var(name).ok().and_then(|text| text.parse().ok())
    }

    struct JsecShown<T>(T);

    trait JsecByDebug {
        fn text(&self) -> std::string::String;
    }

    impl<T: std::fmt::Debug> JsecByDebug for JsecShown<T> {
        fn text(&self) -> std::string::String {
            format!("{:?}", self.0).chars().take(1000).collect()
        }
    }

    trait JsecByNothing {
        fn text(&self) -> std::string::String;
    }

    // Chosen for types without `Debug`, since it needs one reference more.
    impl<T> JsecByNothing for &JsecShown<T> {
        fn text(&self) -> std::string::String {
            std::string::String::new()
        }
    }

    // JSEC_CASE=N carries one case out; with JSEC_RESULT its result is printed. Without JSEC_CASE all
    // of them are carried out, from JSEC_FROM on, until a few have panicked on the lines JSEC_FIRST
    // to JSEC_LAST of a file whose path ends in JSEC_FILE. Names begin so that none of the file's is
    // hidden.
    #[test]
    fn jsec_run() {
        if let Some(only) = jsec_number("JSEC_CASE") {
            if only < JSEC_CASES.len() {
                jsec_call(JSEC_CASES[only]);
            }
            return;
        }
        let first = jsec_number("JSEC_FIRST").unwrap_or(0) as u32;
        let last = jsec_number("JSEC_LAST").unwrap_or(0) as u32;
        let file = std::env::var("JSEC_FILE").unwrap_or_default();
        std::panic::set_hook(std::boxed::Box::new(move |told| {
            if let Some(place) = told.location() {
                if first <= place.line() && place.line() <= last && place.file().ends_with(&file) {
                    eprintln!("\nHARNESS: case {}", JSEC_NOW.load(SeqCst));
                    JSEC_FOUND.fetch_add(1, SeqCst);
                }
            }
        }));
        for at in jsec_number("JSEC_FROM").unwrap_or(0)..JSEC_CASES.len() {
            JSEC_NOW.store(at, SeqCst);
            eprintln!("\nHARNESS: at {}", at);
            let _ = std::panic::catch_unwind(|| jsec_call(JSEC_CASES[at]));
            if JSEC_FOUND.load(SeqCst) > 3 {
                break;
            }
        }
        eprintln!("\nHARNESS: end");
    }
