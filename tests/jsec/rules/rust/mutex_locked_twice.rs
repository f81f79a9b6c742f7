impl Bank {
    pub fn transfer(&self) {
        let from = self.accounts.lock().unwrap();
        let to = self.accounts.lock().unwrap(); // expect: mutex-locked-twice
        swap(from, to);
    }

    pub fn inner(&self) -> usize {
        let accounts = self.accounts.lock().unwrap();
        if accounts.is_empty() {
            return self.accounts.lock().unwrap().len(); // expect: mutex-locked-twice
        }
        0
    }

    pub fn one_after_the_other(&self) {
        let from = self.accounts.lock().unwrap();
        drop(from);
        let to = self.accounts.lock().unwrap(); // ok
        keep(to);
    }

    pub fn scoped(&self) {
        {
            let from = self.accounts.lock().unwrap();
            keep(from);
        }
        let to = self.accounts.lock().unwrap(); // ok
        keep(to);
    }

    pub fn other_lock(&self) {
        let from = self.accounts.lock().unwrap();
        let log = self.log.lock().unwrap(); // ok
        keep(from, log);
    }

    pub fn spawned(&self) {
        let from = self.accounts.lock().unwrap();
        spawn(move || self.accounts.lock().unwrap().len()); // ok
        keep(from);
    }
}
