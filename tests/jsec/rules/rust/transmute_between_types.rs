use std::mem;
use std::mem::transmute as reinterpret;

pub struct Wire([u8; 4]);

pub fn bits(ratio: f32) -> u32 {
    unsafe { mem::transmute::<f32, u32>(ratio) } // expect: transmute-between-types
}

pub fn bits_checked(ratio: f32) -> u32 {
    f32::to_bits(ratio) // ok
}

pub fn untyped(header: [u8; 8]) {
    let header = unsafe { mem::transmute(header) }; // expect: transmute-between-types
    send(header);
}

pub fn renamed(header: [u8; 8]) {
    send(unsafe { reinterpret(header) }); // expect: transmute-between-types
}

pub fn argued(wire: Wire) -> u64 {
    // SAFETY: both are eight plain bytes.
    let value: Plain = unsafe { mem::transmute(wire) }; // ok
    value.get()
}

pub fn own() {
    other::transmutes(1); // ok
}
