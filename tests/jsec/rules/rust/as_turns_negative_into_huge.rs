pub fn read(fd: i32, buf: &mut [u8]) -> &[u8] {
    let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
    &buf[..n as usize] // expect: as-turns-negative-into-huge
}

pub fn read_checked(fd: i32, buf: &mut [u8]) -> &[u8] {
    let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
    if n < 0 {
        return &[];
    }
    &buf[..n as usize] // ok
}

pub fn parsed(text: &str, table: &[u8]) -> Option<u8> {
    let i = text.parse::<i32>().ok()?;
    table.get(i as usize).copied() // expect: as-turns-negative-into-huge
}

pub fn direct(fd: i32, buf: &mut [u8]) -> usize {
    unsafe { libc::recv(fd, buf.as_mut_ptr().cast(), buf.len(), 0) as usize } // expect: as-turns-negative-into-huge
}

pub fn parameter(n: i64) -> u64 {
    n as u64 // expect: as-turns-negative-into-huge
}

pub fn unsigned(n: u32) -> usize {
    n as usize // ok
}
