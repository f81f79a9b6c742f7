use std::mem::MaybeUninit;

pub fn at_once() -> Header {
    unsafe { MaybeUninit::uninit().assume_init() } // expect: assume-init-without-write
}

pub fn typed() -> u32 {
    unsafe { MaybeUninit::<u32>::uninit().assume_init() } // expect: assume-init-without-write
}

pub fn never_written() -> Header {
    let header = MaybeUninit::<Header>::uninit();
    unsafe { header.assume_init() } // expect: assume-init-without-write
}

pub fn written() -> Header {
    let mut header = MaybeUninit::<Header>::uninit();
    header.write(Header::default());
    unsafe { header.assume_init() } // ok
}

pub fn through_pointer() -> Header {
    let mut header = MaybeUninit::<Header>::uninit();
    unsafe {
        fill(header.as_mut_ptr());
        header.assume_init() // ok
    }
}

pub fn array_of_uninit() -> [MaybeUninit<u8>; 64] {
    unsafe { MaybeUninit::<[MaybeUninit<u8>; 64]>::uninit().assume_init() } // ok
}

pub fn zeroed() -> u32 {
    unsafe { MaybeUninit::<u32>::zeroed().assume_init() } // ok
}
