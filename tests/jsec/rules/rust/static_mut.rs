use std::sync::atomic::AtomicU64;

static mut REQUESTS: u64 = 0; // expect: static-mut
pub static mut TABLE: [u8; 16] = [0; 16]; // expect: static-mut

static COUNT: AtomicU64 = AtomicU64::new(0); // ok
static NAME: &str = "static mut"; // ok

pub fn inner() -> u32 {
    static mut CALLS: u32 = 0; // expect: static-mut
    unsafe {
        CALLS += 1;
        CALLS
    }
}

extern "C" {
    static mut errno: i32; // ok
}
