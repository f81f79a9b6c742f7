use std::mem;

pub struct Entry { name: String, next: Option<Box<Entry>>, hook: fn(u32) }

pub fn reference() -> &'static str {
    unsafe { mem::zeroed() } // expect: zeroed-non-zero-type
}

pub fn boxed() {
    let b = unsafe { mem::zeroed::<Box<u32>>() }; // expect: zeroed-non-zero-type
    use_it(b);
}

pub fn swap(entry: &mut Entry) -> String {
    mem::replace(&mut entry.name, unsafe { mem::zeroed() }) // expect: zeroed-non-zero-type
}

pub fn take(entry: &mut Entry) -> String {
    mem::take(&mut entry.name) // ok
}

pub fn plain() -> libc::stat {
    unsafe { mem::zeroed() } // ok
}

pub fn typed() {
    let addr: libc::sockaddr_in = unsafe { mem::zeroed() }; // ok
    use_it(addr);
}

pub fn optional() {
    let next: Option<Box<Entry>> = unsafe { mem::zeroed() }; // ok
    use_it(next);
}
