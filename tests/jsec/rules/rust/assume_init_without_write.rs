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

pub struct Context(ffi::SHA_CTX);
pub struct Finder(sys::WIN32_FIND_DATAW);

pub fn by_a_function_of_c() -> Context {
    let mut context = MaybeUninit::uninit();
    unsafe {
        ffi::SHA1_Init(context.as_mut_ptr());
        Context(context.assume_init()) // ok
    }
}

pub fn by_a_function_of_windows(name: *const u16) -> Finder {
    let mut data = MaybeUninit::uninit();
    unsafe {
        sys::FindFirstFileW(name, data.as_mut_ptr());
        Finder(data.assume_init()) // ok
    }
}

pub fn by_nobody() -> Context {
    let context = MaybeUninit::uninit();
    unsafe { Context(context.assume_init()) } // expect: assume-init-without-write
}

pub fn array_of_uninit() -> [MaybeUninit<u8>; 64] {
    unsafe { MaybeUninit::<[MaybeUninit<u8>; 64]>::uninit().assume_init() } // ok
}

pub fn zeroed() -> u32 {
    unsafe { MaybeUninit::<u32>::zeroed().assume_init() } // ok
}
