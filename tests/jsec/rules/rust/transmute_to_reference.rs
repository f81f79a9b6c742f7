use std::mem::transmute;

pub struct Node { value: u32 }

pub fn node(address: usize) -> u32 {
    let node: &Node = unsafe { transmute(address) }; // expect: transmute-to-reference
    node.value
}

pub fn from_pointer<'a>(p: *const Node) -> &'a Node {
    unsafe { transmute::<*const Node, &'a Node>(p) } // expect: transmute-to-reference
}

pub fn reborrow(p: *const Node) -> u32 {
    // SAFETY: callers pass live nodes.
    let node: &Node = unsafe { &*p }; // ok
    node.value
}

pub fn to_number(node: &Node) -> usize {
    unsafe { transmute::<&Node, usize>(node) } // ok
}
