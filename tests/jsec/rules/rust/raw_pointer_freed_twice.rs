pub unsafe fn twice(p: *mut Node) {
    drop(Box::from_raw(p));
    count();
    drop(Box::from_raw(p)); // expect: raw-pointer-freed-twice
}

pub unsafe fn c_twice(p: *mut libc::c_void) {
    libc::free(p);
    libc::free(p); // expect: raw-pointer-freed-twice
}

pub unsafe fn once(p: *mut Node) {
    let owned = Box::from_raw(p);
    drop(owned); // ok
}

pub unsafe fn branches(p: *mut Node, deep: bool) {
    if deep {
        drop(Box::from_raw(p));
        return;
    }
    drop(Box::from_raw(p)); // ok
}

pub unsafe fn either(p: *mut Node, deep: bool) {
    if deep {
        drop(Box::from_raw(p));
    } else {
        release(Box::from_raw(p)); // ok
    }
}

pub unsafe fn moved_on(mut p: *mut Node) {
    drop(Box::from_raw(p));
    p = next();
    drop(Box::from_raw(p)); // ok
}

pub unsafe fn arms(p: *mut Node, kind: u8) {
    match kind {
        0 => drop(Box::from_raw(p)),
        _ => release(Box::from_raw(p)), // ok
    }
}

pub fn from_box(value: Box<u32>) {
    let p = Box::into_raw(value);
    unsafe {
        drop(Box::from_raw(p));
        let _ = Box::from_raw(p); // expect: raw-pointer-freed-twice
    }
}
