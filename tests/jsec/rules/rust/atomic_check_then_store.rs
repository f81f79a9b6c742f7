use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static STARTED: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);

pub fn start() {
    if !STARTED.load(Ordering::SeqCst) {
        STARTED.store(true, Ordering::SeqCst); // expect: atomic-check-then-store
        run();
    }
}

pub fn count() {
    COUNT.store(COUNT.load(Ordering::SeqCst) + 1, Ordering::SeqCst); // expect: atomic-check-then-store
}

pub fn start_once() {
    if !STARTED.swap(true, Ordering::SeqCst) {
        run(); // ok
    }
}

pub fn stop() {
    if run() {
        STARTED.store(false, Ordering::SeqCst); // ok
    }
}

pub fn add() {
    COUNT.fetch_add(1, Ordering::SeqCst); // ok
}
