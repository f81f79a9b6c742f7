pub fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Rename => todo!(), // expect: unfinished-code
        Command::Copy => unimplemented!("copy"), // expect: unfinished-code
        Command::Remove => Err(Error::Unsupported("remove")), // ok
    }
}

#[cfg(test)]
mod tests {
    struct Fake;
    impl Store for Fake {
        fn save(&self) {
            unimplemented!() // ok
        }
    }
}
