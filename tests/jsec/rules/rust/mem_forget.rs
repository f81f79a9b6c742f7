use std::mem;

pub fn keep_locked(queue: &Mutex<Vec<u8>>) {
    let guard = queue.lock().unwrap();
    mem::forget(guard); // expect: mem-forget
}

pub fn leak(name: String) {
    std::mem::forget(name); // expect: mem-forget
}

pub fn dropped(queue: &Mutex<Vec<u8>>) {
    let guard = queue.lock().unwrap();
    drop(guard); // ok
}

pub fn into_parts(mut bytes: Vec<u8>) -> (*mut u8, usize) {
    let parts = (bytes.as_mut_ptr(), bytes.len());
    mem::forget(bytes); // ok
    parts
}

impl Guard {
    pub fn dismiss(self) {
        mem::forget(self); // ok
    }
}

pub fn other(cache: &Cache) {
    cache.forget("key"); // ok
}
