pub fn drop_rights(user: u32) {
    unsafe { libc::setuid(user) }; // expect: c-call-result-ignored
    unsafe {
        libc::setgid(user); // expect: c-call-result-ignored
    }
    let _ = unsafe { libc::chroot(c"/srv".as_ptr()) }; // expect: c-call-result-ignored
}

pub fn drop_rights_checked(user: u32) -> io::Result<()> {
    if unsafe { libc::setuid(user) } != 0 {
        return Err(io::Error::last_os_error()); // ok
    }
    let result = unsafe { libc::setgid(user) }; // ok
    check(result)
}

pub fn returned(user: u32) -> i32 {
    unsafe { libc::setuid(user) } // ok
}

pub fn own(session: &mut Session) {
    session.setuid(4); // ok
}
