pub unsafe fn read_after(p: *mut Node) -> u32 {
    drop(Box::from_raw(p));
    (*p).value // expect: raw-pointer-used-after-free
}

pub unsafe fn read_before(p: *mut Node) -> u32 {
    let value = (*p).value; // ok
    drop(Box::from_raw(p));
    value
}

pub unsafe fn c_memory(p: *mut u8) -> u8 {
    libc::free(p.cast());
    p.read() // expect: raw-pointer-used-after-free
}

pub unsafe fn block(layout: Layout) -> u8 {
    let p = alloc(layout);
    dealloc(p, layout);
    *p // expect: raw-pointer-used-after-free
}

pub unsafe fn owned(p: *mut Node) -> Box<Node> {
    let owned = Box::from_raw(p);
    log((*p).value); // ok
    owned
}

pub unsafe fn reset(mut p: *mut u8) -> u8 {
    libc::free(p.cast());
    p = next();
    *p // ok
}

pub unsafe fn early(p: *mut Node, done: bool) -> u32 {
    if done {
        drop(Box::from_raw(p));
        return 0;
    }
    (*p).value // ok
}

pub unsafe fn in_macro(p: *mut u32) {
    libc::free(p.cast());
    println!("{} {}", 2, *p); // expect: raw-pointer-used-after-free
}

pub unsafe fn times(p: usize) {
    libc::free(p as *mut libc::c_void);
    println!("{}", 2 * p); // ok
}
