pub fn dropped(name: String) -> u8 {
    let p = name.as_ptr();
    drop(name);
    unsafe { *p } // expect: raw-pointer-outlives-owner
}

pub fn boxed() -> u32 {
    let value = Box::new(5u32);
    let p = &*value as *const u32;
    drop(value);
    unsafe { p.read() } // expect: raw-pointer-outlives-owner
}

pub fn inner_block() -> u32 {
    let p: *const u32;
    {
        let value = 5u32;
        p = &value as *const u32;
    }
    unsafe { *p } // expect: raw-pointer-outlives-owner
}

pub fn grown(mut list: Vec<u32>) -> u32 {
    let p = list.as_ptr();
    list.push(4);
    unsafe { *p } // expect: raw-pointer-outlives-owner
}

pub fn in_time(name: String) -> u8 {
    let p = name.as_ptr();
    let first = unsafe { *p }; // ok
    drop(name);
    first
}

pub fn alive(list: Vec<u32>) -> u32 {
    let p = list.as_ptr();
    unsafe { *p } // ok
}

pub fn taken_again(mut list: Vec<u32>) -> u32 {
    let mut p = list.as_ptr();
    list.push(4);
    p = list.as_ptr();
    unsafe { *p } // ok
}

pub fn reference(list: Vec<u32>) -> usize {
    let r = &list;
    let n = r.len(); // ok
    drop(list);
    n
}

pub fn stored(rules: &[&str]) -> i32 {
    let mut queries: Vec<Query> = vec![];
    for rule in rules {
        let word = CString::new(*rule).expect("no NUL");
        queries.push(Query { condition: word.as_ptr() as *const c_char }); // expect: raw-pointer-outlives-owner
    }
    unsafe { run(queries.as_ptr(), queries.len()) }
}

pub fn stored_with_owners(rules: &[&str]) -> i32 {
    let mut queries: Vec<Query> = vec![];
    let mut words = vec![];
    for rule in rules {
        let word = CString::new(*rule).expect("no NUL");
        queries.push(Query { condition: word.as_ptr() as *const c_char }); // ok
        words.push(word);
    }
    unsafe { run(queries.as_ptr(), queries.len()) }
}

pub fn stored_for_a_turn(rules: &[&str]) -> i32 {
    let mut sum = 0;
    for rule in rules {
        let mut queries: Vec<Query> = vec![];
        let word = CString::new(*rule).expect("no NUL");
        queries.push(Query { condition: word.as_ptr() }); // ok
        sum += unsafe { run(queries.as_ptr(), queries.len()) };
    }
    sum
}

pub fn stored_of_longer(rules: &[&'static CStr]) -> i32 {
    let mut queries: Vec<Query> = vec![];
    for rule in rules {
        let word = rule;
        queries.push(Query { condition: word.as_ptr() }); // ok
    }
    unsafe { run(queries.as_ptr(), queries.len()) }
}
