pub fn from_c() -> Box<u8> {
    let p = unsafe { libc::malloc(16) } as *mut u8;
    unsafe { Box::from_raw(p) } // expect: box-from-foreign-memory
}

pub fn from_strdup(text: *const i8) -> CString {
    unsafe { CString::from_raw(libc::strdup(text)) } // expect: box-from-foreign-memory
}

pub fn from_stack() -> Box<u32> {
    let mut value = 5u32;
    let p = &mut value as *mut u32;
    unsafe { Box::from_raw(p) } // expect: box-from-foreign-memory
}

pub fn from_live_vec(mut bytes: Vec<u8>) -> Vec<u8> {
    let p = bytes.as_mut_ptr();
    unsafe { Vec::from_raw_parts(p, bytes.len(), bytes.capacity()) } // expect: box-from-foreign-memory
}

pub fn from_forgotten(mut bytes: Vec<u8>) -> Vec<u8> {
    let p = bytes.as_mut_ptr();
    let (length, capacity) = (bytes.len(), bytes.capacity());
    std::mem::forget(bytes);
    unsafe { Vec::from_raw_parts(p, length, capacity) } // ok
}

pub fn round_trip(value: Box<u32>) -> Box<u32> {
    let p = Box::into_raw(value);
    unsafe { Box::from_raw(p) } // ok
}

pub unsafe fn given(p: *mut u32) -> Box<u32> {
    Box::from_raw(p) // ok
}

pub struct Record {
    level: *const c_char,
}

impl Record {
    pub fn level(&self) -> String {
        let owned = unsafe { CString::from_raw(self.level as *mut c_char) }; // expect: box-from-foreign-memory
        owned.to_string_lossy().into_owned()
    }

    pub fn level_borrowed(&self) -> String {
        unsafe { CStr::from_ptr(self.level) }.to_string_lossy().into_owned() // ok
    }

    pub fn level_given_back(&self) -> String {
        let owned = unsafe { CString::from_raw(self.level as *mut c_char) }; // ok
        let copy = owned.to_string_lossy().into_owned();
        let _ = owned.into_raw();
        copy
    }

    pub fn into_level(self) -> CString {
        unsafe { CString::from_raw(self.level as *mut c_char) } // ok
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        drop(unsafe { CString::from_raw(self.level as *mut c_char) }); // ok
    }
}

pub fn level_of(record: &Record) -> CString {
    unsafe { CString::from_raw(record.level as *mut c_char) } // expect: box-from-foreign-memory
}
