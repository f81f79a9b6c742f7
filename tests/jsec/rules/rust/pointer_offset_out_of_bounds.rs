pub fn past() -> u8 {
    let table = [0u8; 16];
    unsafe { *table.as_ptr().add(16) } // expect: pointer-offset-out-of-bounds
}

pub fn before() {
    let mut table = [0u8; 16];
    let p = table.as_mut_ptr();
    unsafe { p.offset(-1).write(1) }; // expect: pointer-offset-out-of-bounds
    unsafe { *p.add(20) = 1 }; // expect: pointer-offset-out-of-bounds
}

pub fn inside() -> u8 {
    let table = [0u8; 16];
    unsafe { *table.as_ptr().add(15) } // ok
}

pub fn from_text(table: &[u8], text: &str) -> u8 {
    let step: usize = text.parse().unwrap_or(0);
    unsafe { *table.as_ptr().add(step) } // expect: pointer-offset-out-of-bounds
}

pub fn from_text_checked(table: &[u8], text: &str) -> u8 {
    let step: usize = text.parse().unwrap_or(0);
    if step >= table.len() {
        return 0;
    }
    unsafe { *table.as_ptr().add(step) } // ok
}

pub fn end() -> *const u8 {
    let table = [0u8; 16];
    table.as_ptr_range().end // ok
}

pub fn duration(a: Duration, text: &str) -> Duration {
    a.add(text.parse().unwrap_or(b)) // ok
}

pub fn of_vector() -> u8 {
    let table = vec![0u8; 10];
    unsafe { *table.as_ptr().add(10) } // expect: pointer-offset-out-of-bounds
}

pub fn in_vector() -> i32 {
    let table = vec![1, 2, 3];
    unsafe { *table.as_ptr().add(2) } // ok
}

pub fn loop_past() {
    let mut table = [0u8; 10];
    let p = table.as_mut_ptr();
    for i in 0..=10 {
        unsafe { *p.add(i) = 0 }; // expect: pointer-offset-out-of-bounds
    }
    for i in 0..10 {
        unsafe { *p.add(i) = 0 }; // ok
    }
}
