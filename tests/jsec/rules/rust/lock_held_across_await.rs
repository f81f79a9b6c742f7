use std::sync::{Mutex, RwLock};

pub struct Server { state: Mutex<State>, table: RwLock<Table>, queue: tokio::sync::Mutex<Queue> }

impl Server {
    pub async fn reply(&self, client: &Client) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap(); // expect: lock-held-across-await
        state.reply = client.send().await?;
        Ok(())
    }

    pub async fn table(&self, client: &Client) {
        let table = self.table.read().unwrap(); // expect: lock-held-across-await
        for row in table.rows() {
            client.send(row).await;
        }
    }

    pub async fn dropped(&self, client: &Client) {
        let state = self.state.lock().unwrap(); // ok
        let id = state.id;
        drop(state);
        client.send(id).await;
    }

    pub async fn own_block(&self, client: &Client) {
        let id = {
            let state = self.state.lock().unwrap(); // ok
            state.id
        };
        client.send(id).await;
    }

    pub async fn async_lock(&self, client: &Client) {
        let queue = self.queue.lock().await; // ok
        client.send(queue.len()).await;
    }

    pub async fn value_only(&self, client: &Client) {
        let id = self.state.lock().unwrap().id; // ok
        client.send(id).await;
    }

    pub fn no_await(&self) -> u32 {
        let state = self.state.lock().unwrap(); // ok
        state.id
    }
}
