pub struct Counter { count: u32 }

impl Counter {
    pub fn bump(&self) {
        let count = unsafe { &mut *(&self.count as *const u32 as *mut u32) }; // expect: mutable-reference-from-shared
        *count += 1;
    }

    pub fn write(&self, value: &u32) {
        unsafe { *(value as *const u32 as *mut u32) = 1 }; // expect: mutable-reference-from-shared
    }

    pub fn exclusive(&mut self) {
        let count = unsafe { &mut *(&mut self.count as *mut u32) }; // ok
        *count += 1;
    }

    pub fn read(&self) -> u32 {
        unsafe { *(&self.count as *const u32) } // ok
    }
}

pub fn confuse(x: &u32) -> &mut u32 {
    unsafe { std::mem::transmute::<&u32, &mut u32>(x) } // expect: mutable-reference-from-shared
}

pub fn from_mut(x: &mut u32) {
    unsafe { *(x as *mut u32) = 3 }; // ok
}

pub fn through_variable() -> u32 {
    let value = 5u32;
    let p = &value as *const u32 as *mut u32;
    unsafe { *p = 6 }; // expect: mutable-reference-from-shared
    value
}
