use std::mem;

pub struct Header { kind: u8, length: u32 }
#[repr(C)]
pub struct Wire { kind: u32, length: u32 }

pub fn header(raw: [u8; 8]) -> Header {
    unsafe { mem::transmute::<[u8; 8], Header>(raw) } // expect: transmute-of-rust-layout
}

pub fn wire(raw: [u8; 8]) -> Wire {
    unsafe { mem::transmute::<[u8; 8], Wire>(raw) } // ok
}

pub fn bytes(header: Header) {
    send(unsafe { mem::transmute::<Header, [u8; 8]>(header) }); // expect: transmute-of-rust-layout
}

pub fn stretch<'a>(header: &'a Header) -> &'static Header {
    unsafe { mem::transmute::<&'a Header, &'static Header>(header) } // ok
}
