pub struct Header { length: u32 }
pub struct Allocator;

unsafe impl Pod for Header {} // expect: unsafe-impl-without-safety-comment

// SAFETY: one u32, no padding.
unsafe impl Zeroable for Header {} // ok

unsafe impl GlobalAlloc for Allocator { // ok
    // SAFETY: everything is passed on to the system allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        System.alloc(layout)
    }
}

unsafe impl Send for Header {} // ok
impl Clone for Header {} // ok
