pub struct Buffer { len: usize }

impl Buffer {
    pub unsafe fn set_len(&mut self, len: usize) { // expect: unsafe-fn-without-safety-docs
        self.len = len;
    }

    /// Sets the length.
    ///
    /// # Safety
    /// The first `len` bytes must be initialised.
    #[inline]
    pub unsafe fn documented(&mut self, len: usize) { // ok
        self.len = len;
    }

    unsafe fn private(&mut self) { // ok
        self.len = 0;
    }

    pub(crate) unsafe fn inner(&mut self) { // ok
        self.len = 0;
    }

    /// 安全性：调用者必须保证长度有效
    pub unsafe fn chinese(&mut self) { // ok
        self.len = 1;
    }
}

pub fn plain() {} // ok

/// Frees the block.
pub unsafe extern "C" fn release(p: *mut u8) { // expect: unsafe-fn-without-safety-docs
    drop(Box::from_raw(p));
}

pub unsafe trait Plain {} // expect: unsafe-fn-without-safety-docs

/// # Safety
/// Any bit pattern must be valid.
pub unsafe trait Documented {} // ok
