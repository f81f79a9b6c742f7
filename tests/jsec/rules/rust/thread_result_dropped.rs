use std::thread;

pub fn save(state: State) {
    thread::spawn(move || write(state)); // expect: thread-result-dropped
}

pub fn ignored(state: State) {
    let _ = thread::spawn(move || write(state)); // expect: thread-result-dropped
}

pub fn joined(state: State) -> Result<(), Error> {
    let saving = thread::spawn(move || write(state)); // ok
    saving.join().map_err(|_| Error::SaveFailed)
}

pub fn scoped(state: &State) {
    thread::scope(|s| {
        s.spawn(|| write(state)); // ok
    });
}
