use std::mem;

pub fn header() -> Header {
    unsafe { mem::uninitialized() } // expect: mem-uninitialized
}

pub fn imported() -> Header {
    use_it(unsafe { std::mem::uninitialized::<Header>() }) // expect: mem-uninitialized
}

pub fn better() -> mem::MaybeUninit<Header> {
    mem::MaybeUninit::uninit() // ok
}

pub fn other() {
    state::uninitialized(); // ok
}
