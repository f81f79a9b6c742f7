pub struct Loose { a: u8, b: u32 }

#[repr(C)]
pub struct Fixed { a: u8, b: u32 }

#[repr(transparent)]
pub struct Id(u32);

#[no_mangle]
pub extern "C" fn greet(name: String) {} // expect: ffi-type-without-c-layout

#[no_mangle]
pub extern "C" fn show(name: &str) {} // expect: ffi-type-without-c-layout

#[no_mangle]
pub extern "C" fn make() -> Vec<u8> { Vec::new() } // expect: ffi-type-without-c-layout

#[no_mangle]
pub extern "C" fn by_value(loose: Loose) {} // expect: ffi-type-without-c-layout

#[no_mangle]
pub extern "C" fn fixed(fixed: Fixed, id: Id) {} // ok

#[no_mangle]
pub extern "C" fn by_pointer(loose: *const Loose, n: usize) -> i32 { 0 } // ok

pub fn in_rust(name: String, loose: Loose) {} // ok

extern "C" {
    fn log_text(text: &str); // expect: ffi-type-without-c-layout
    fn log_bytes(text: *const u8, n: usize); // ok
    fn signal(n: i32, action: Option<unsafe extern "C" fn(i32)>) -> Option<unsafe extern "C" fn(i32)>; // ok
    fn at(n: Option<u32>); // expect: ffi-type-without-c-layout
    fn told(n: i32) -> Option<usize>; // expect: ffi-type-without-c-layout
}

pub extern "C" fn callback(hook: Option<extern "C" fn(i32)>) {} // ok

#[cxx::bridge(namespace = "app")]
mod ffi {
    unsafe extern "C++" {
        fn base_folder() -> String; // ok
        fn put(name: &str, value: &[u8], list: &Vec<String>) -> bool; // ok
    }
    extern "Rust" {
        fn on(self: &mut Listener, args: Vec<String>) -> i32; // ok
    }
}
