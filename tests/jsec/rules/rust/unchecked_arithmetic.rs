pub fn end(start: usize, length: usize) -> usize {
    unsafe { start.unchecked_add(length) } // expect: unchecked-arithmetic
}

pub fn end_checked(start: usize, length: usize) -> Option<usize> {
    start.checked_add(length) // ok
}

pub fn tested(start: usize, length: usize) -> usize {
    if start > 100 || length > 100 {
        return 0;
    }
    unsafe { start.unchecked_add(length) } // ok
}

pub fn argued(i: usize) -> usize {
    // SAFETY: `i` is below the length of an allocation.
    unsafe { i.unchecked_add(1) } // ok
}
