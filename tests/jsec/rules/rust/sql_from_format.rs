pub fn remove(db: &Connection, name: &str) -> Result<usize, Error> {
    db.execute(&format!("DELETE FROM users WHERE name = '{name}'"), []) // expect: sql-from-format
}

pub fn find(db: &Connection, id: &str) -> Result<Row, Error> {
    let statement = format!("SELECT * FROM users WHERE id = {}", id); // expect: sql-from-format
    db.query_row(&statement, [])
}

pub async fn rename(pool: &Pool, name: &str) {
    sqlx::query(&format!("UPDATE users SET name = '{}'", name)).execute(pool).await; // expect: sql-from-format
}

pub fn count(db: &Connection, table: &str) -> Result<Row, Error> {
    db.query_row(&format!("SELECT count(*) FROM {table}"), []) // expect: sql-from-format
}

pub fn remove_bound(db: &Connection, name: &str) -> Result<usize, Error> {
    db.execute("DELETE FROM users WHERE name = ?1", [name]) // ok
}

pub fn message(name: &str) -> String {
    format!("select a file from {name}?") // expect: sql-from-format
}

pub fn greeting(name: &str) -> String {
    format!("Update: {name}") // ok
}

pub fn added(db: &Connection, name: &str) -> Result<usize, Error> {
    let statement = "SELECT * FROM users WHERE name = '".to_owned() + name + "'"; // expect: sql-from-format
    db.execute(&statement, [])
}

pub fn added_text(name: &str) -> String {
    "Hello ".to_string() + name // ok
}

const RUNNING: u8 = 1;

pub struct State {
    pub repr: u8,
    pub name: String,
}

pub fn numbers(db: &Connection, id: u32, state: &State) {
    db.execute(&format!("UPDATE tasks SET state = {} WHERE id = {}", state.repr, id)); // ok
    db.execute(&format!("UPDATE tasks SET state = {RUNNING} WHERE id = {id}")); // ok
    db.execute(&format!("UPDATE tasks SET state = {} WHERE name = '{}'", 1, state.name)); // expect: sql-from-format
}

pub fn appended(bundle: &str) -> String {
    let mut sql = "SELECT task_id FROM request_task WHERE ".to_string();
    if bundle != "*" {
        sql.push_str(&format!("bundle = '{}' AND ", bundle)); // expect: sql-from-format
    }
    sql.push_str("1 = 1");
    sql
}

pub fn appended_bound(bundle: &str, parameters: &mut Vec<String>) -> String {
    let mut sql = "SELECT task_id FROM request_task WHERE ".to_string();
    if bundle != "*" {
        sql.push_str("bundle = ? AND "); // ok
        parameters.push(bundle.to_string());
    }
    sql
}

pub fn appended_number(uid: u64) -> String {
    let mut sql = String::from("SELECT task_id FROM request_task WHERE state > 0");
    sql.push_str(&format!(" AND uid = {}, {}", uid, 5)); // ok
    sql
}

pub fn written(name: &str) -> String {
    let mut sql = String::from("DELETE FROM users WHERE ");
    write!(sql, "name = '{name}'").unwrap(); // expect: sql-from-format
    sql
}

pub fn appended_text(name: &str) -> String {
    let mut line = String::from("Hello ");
    line.push_str(&format!("name = '{name}'")); // ok
    line
}
