use std::mem;

pub struct Record<'a> { name: &'a str }

pub fn stretch(name: &str) -> &'static str {
    unsafe { mem::transmute::<&str, &'static str>(name) } // expect: transmute-of-lifetime
}

pub fn untyped(name: String) {
    let kept: &'static [u8] = unsafe { mem::transmute(name.borrow()) }; // expect: transmute-of-lifetime
    keep(kept);
}

pub fn of_struct<'a, 'b>(record: Record<'a>) -> Record<'b> {
    unsafe { mem::transmute::<Record<'a>, Record<'b>>(record) } // expect: transmute-of-lifetime
}

pub fn owned(name: &str) -> String {
    name.to_owned() // ok
}

pub fn numbers(x: u32) -> i32 {
    unsafe { mem::transmute::<u32, i32>(x) } // ok
}
