//! Keys that were used lately, for callers on any thread.

use std::collections::HashMap;
use std::mem::MaybeUninit;

use crate::record::{Record, KEY_LENGTH};

static mut HITS: u64 = 0;

/// A key buffer that C code may hold on to.
pub struct Shared {
    pointer: *mut u8,
    length: usize,
}

unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new(key: &[u8; KEY_LENGTH]) -> Self {
        let boxed: Box<[u8]> = Box::new(*key);
        Shared { length: boxed.len(), pointer: Box::into_raw(boxed).cast() }
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: pointer and length come from the box made in `new` and are never changed.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }

    pub fn byte(&self, index: usize) -> u8 {
        unsafe { *self.as_slice().get_unchecked(index) }
    }
}

#[derive(Default)]
pub struct Cache {
    keys: HashMap<String, Shared>,
}

impl Cache {
    pub fn insert(&mut self, record: &Record) {
        self.keys.insert(record.name.clone(), Shared::new(&record.key));
    }

    pub fn get(&self, name: &str) -> Option<&Shared> {
        let found = self.keys.get(name);
        if found.is_some() {
            unsafe { HITS += 1 };
        }
        found
    }

    /// An empty key to be filled by the caller.
    pub fn blank() -> [u8; KEY_LENGTH] {
        let key: MaybeUninit<[u8; KEY_LENGTH]> = MaybeUninit::uninit();
        unsafe { key.assume_init() }
    }

    /// Leaves the keys to C code that still uses them.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}
