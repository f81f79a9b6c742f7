pub fn value(table: &[u32], index: usize) -> u32 {
    unsafe { *table.get_unchecked(index) } // expect: get-unchecked-without-bound
}

pub fn from_text(table: &mut [u32], text: &str) {
    let index: usize = text.parse().unwrap_or(0);
    unsafe { *table.get_unchecked_mut(index) = 1 } // expect: get-unchecked-without-bound
}

pub fn past_the_end() -> u32 {
    let table = [1u32, 2, 3];
    unsafe { *table.get_unchecked(3) } // expect: get-unchecked-without-bound
}

pub fn inside() -> u32 {
    let table = [1u32, 2, 3];
    unsafe { *table.get_unchecked(2) } // ok
}

pub fn tested(table: &[u32], index: usize) -> u32 {
    if index < table.len() {
        return unsafe { *table.get_unchecked(index) }; // ok
    }
    0
}

pub fn loop_bound(table: &[u32]) -> u32 {
    let mut sum = 0;
    for i in 0..table.len() {
        sum += unsafe { *table.get_unchecked(i) }; // ok
    }
    sum
}

pub fn debug_only(table: &[u32], index: usize) -> u32 {
    debug_assert!(index < table.len());
    unsafe { *table.get_unchecked(index) } // expect: get-unchecked-without-bound
}

pub fn plain(table: &[u32], index: usize) -> u32 {
    table[index] // ok
}

pub fn one_too_far(v: &[u32], i: usize) -> u32 {
    if i <= v.len() {
        unsafe { *v.get_unchecked(i) } // expect: get-unchecked-without-bound
    } else {
        0
    }
}
