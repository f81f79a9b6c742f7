impl Bank {
    pub fn deposit(&self) {
        let accounts = self.accounts.lock().unwrap();
        let log = self.log.lock().unwrap(); // ok
        write(accounts, log);
    }

    pub fn report(&self) {
        let log = self.log.lock().unwrap();
        let accounts = self.accounts.lock().unwrap(); // expect: inconsistent-lock-order
        write(accounts, log);
    }

    pub fn one_by_one(&self) {
        let rates = self.rates.lock().unwrap();
        drop(rates);
        let log = self.log.lock().unwrap(); // ok
        write(log);
    }

    pub fn same_order(&self) {
        let log = self.log.lock().unwrap();
        let rates = self.rates.lock().unwrap(); // ok
        write(rates, log);
    }
}
