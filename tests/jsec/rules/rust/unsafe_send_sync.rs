use std::cell::UnsafeCell;

pub struct Slot<T>(UnsafeCell<Option<T>>);
pub struct Handle(*mut u8);

unsafe impl<T> Send for Slot<T> {} // expect: unsafe-send-sync
unsafe impl Send for Handle {} // expect: unsafe-send-sync
unsafe impl std::marker::Sync for Handle {} // expect: unsafe-send-sync

pub struct Queue<T>(UnsafeCell<Vec<T>>);

// SAFETY: elements are handed to one thread only.
unsafe impl<T: Send> Send for Queue<T> {} // ok

// 安全性：内部由互斥锁保护
unsafe impl<T> Sync for Queue<T> where T: Send {} // ok

unsafe impl GlobalAlloc for Handle {} // ok
impl Send2 for Handle {} // ok

pub struct Marked<T>(T);
unsafe impl<T> Sync for Marked<T> // expect: unsafe-send-sync
where
    T: ?Sized,
{
}
