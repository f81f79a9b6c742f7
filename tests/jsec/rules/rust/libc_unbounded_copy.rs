use libc::strcat;

pub unsafe fn name(target: *mut i8, input: *const i8) {
    libc::strcpy(target, input); // expect: libc-unbounded-copy
    strcat(target, input); // expect: libc-unbounded-copy
    libc::sprintf(target, c"%s".as_ptr(), input); // expect: libc-unbounded-copy
}

pub unsafe fn bounded(target: *mut i8, input: *const i8) {
    libc::strncpy(target, input, 15); // ok
}

pub fn safe(target: &mut String, input: &str) {
    target.push_str(input); // ok
}

pub fn own(input: &str) {
    parser::scanf(input); // ok
}
