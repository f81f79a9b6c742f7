use std::mem;

#[repr(u8)]
pub enum Kind { Data, Ack, Close }

pub fn kind(byte: u8) -> Kind {
    unsafe { mem::transmute(byte) } // expect: transmute-to-restricted-type
}

pub fn kind_typed(byte: u8) {
    let kind = unsafe { mem::transmute::<u8, Kind>(byte) }; // expect: transmute-to-restricted-type
    handle(kind);
}

pub fn flag(byte: u8) -> bool {
    unsafe { mem::transmute::<u8, bool>(byte) } // expect: transmute-to-restricted-type
}

pub fn checked(byte: u8) -> Option<Kind> {
    match byte {
        0 => Some(Kind::Data),
        1 => Some(Kind::Ack),
        _ => None, // ok
    }
}

pub fn wide(x: u32) -> [u8; 4] {
    unsafe { mem::transmute::<u32, [u8; 4]>(x) } // ok
}
