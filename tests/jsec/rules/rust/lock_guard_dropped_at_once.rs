impl Store {
    pub fn save(&self) {
        let _ = self.lock.lock().unwrap(); // expect: lock-guard-dropped-at-once
        self.write_file();
    }

    pub fn statement(&self) {
        self.lock.lock().unwrap(); // expect: lock-guard-dropped-at-once
        self.write_file();
    }

    pub async fn waiting(&self) {
        let _ = self.queue.lock().await; // expect: lock-guard-dropped-at-once
        self.write_file();
    }

    pub fn held(&self) {
        let _guard = self.lock.lock().unwrap(); // ok
        self.write_file();
    }

    pub fn value(&self) -> u32 {
        self.lock.lock().unwrap().count // ok
    }

    pub fn io(&mut self, buf: &[u8]) {
        let _ = self.file.write(buf); // ok
    }
}
