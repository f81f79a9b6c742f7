pub fn read(file: &mut File, n: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(n);
    unsafe { buffer.set_len(n) }; // expect: set-len-of-unwritten-vec
    file.read(&mut buffer);
    buffer
}

pub fn grow(mut buffer: Vec<u8>, n: usize) -> Vec<u8> {
    buffer.reserve(n);
    unsafe { buffer.set_len(buffer.len() + n) }; // expect: set-len-of-unwritten-vec
    buffer
}

pub fn zeroed(file: &mut File, n: usize) -> Vec<u8> {
    let mut buffer = vec![0; n];
    file.read(&mut buffer); // ok
    buffer
}

pub fn filled(n: usize) -> Vec<u8> {
    let mut buffer: Vec<u8> = Vec::with_capacity(n);
    unsafe {
        std::ptr::write_bytes(buffer.as_mut_ptr(), 0, n);
        buffer.set_len(n); // ok
    }
    buffer
}

pub fn shorten(buffer: &mut Vec<u8>) {
    unsafe { buffer.set_len(0) }; // ok
}

pub fn written_by_a_function_of_c(number: *const BIGNUM, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    unsafe {
        ffi::BN_bn2bin(number, bytes.as_mut_ptr());
        bytes.set_len(size); // ok
    }
    bytes
}
