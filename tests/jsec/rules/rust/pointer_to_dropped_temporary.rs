use std::ffi::CString;

pub fn index() -> u32 {
    let name = CString::new("eth0").unwrap().as_ptr(); // expect: pointer-to-dropped-temporary
    unsafe { if_nametoindex(name) }
}

pub fn index_kept() -> u32 {
    let name = CString::new("eth0").unwrap();
    unsafe { if_nametoindex(name.as_ptr()) } // ok
}

pub fn within_one_call() -> u32 {
    unsafe { if_nametoindex(CString::new("eth0").unwrap().as_ptr()) } // ok
}

pub fn returned(name: &str) -> *const i8 {
    CString::new(name).expect("no NUL").as_ptr() // expect: pointer-to-dropped-temporary
}

pub fn stored(entry: &mut Entry, name: &str) {
    entry.name = format!("{name}\0").as_ptr(); // expect: pointer-to-dropped-temporary
}

pub fn of_vec() -> *const u8 {
    let p = vec![1u8, 2, 3].as_ptr(); // expect: pointer-to-dropped-temporary
    p
}

pub fn of_local() -> u8 {
    let bytes = vec![1u8, 2, 3];
    let p = bytes.as_ptr(); // ok
    unsafe { *p }
}

pub fn of_slice(bytes: &[u8]) -> *const u8 {
    bytes.as_ptr() // ok
}
