use std::sync::{Condvar, Mutex};

pub struct Queue { jobs: Mutex<Vec<Job>>, ready: Condvar, changed_cond: Condvar }

impl Queue {
    pub fn pop(&self) -> Option<Job> {
        let jobs = self.jobs.lock().unwrap();
        let mut jobs = self.ready.wait(jobs).unwrap(); // expect: condvar-wait-without-loop
        jobs.pop()
    }

    pub fn pop_looped(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock().unwrap();
        while jobs.is_empty() {
            jobs = self.ready.wait(jobs).unwrap(); // ok
        }
        jobs.pop()
    }

    pub fn pop_while(&self) -> Option<Job> {
        let jobs = self.jobs.lock().unwrap();
        self.ready.wait_while(jobs, |jobs| jobs.is_empty()).unwrap().pop() // ok
    }

    pub fn child(&self, child: &mut Child) {
        child.wait(); // ok
    }
}
