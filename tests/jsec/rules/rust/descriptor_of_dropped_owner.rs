use std::fs::{File, OpenOptions};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};

pub fn opened(path: &str) -> io::Result<RawFd> {
    let fd = File::open(path)?.as_raw_fd(); // expect: descriptor-of-dropped-owner
    Ok(fd)
}

pub fn with_options(path: &str) -> RawFd {
    OpenOptions::new().write(true).open(path).map_err(|_| 1).unwrap().as_raw_fd() // expect: descriptor-of-dropped-owner
}

pub fn cloned(stream: &TcpStream) -> RawFd {
    stream.try_clone().unwrap().as_raw_fd() // expect: descriptor-of-dropped-owner
}

pub fn stored(state: &mut State, address: &str) {
    state.fd = TcpStream::connect(address).unwrap().as_raw_fd(); // expect: descriptor-of-dropped-owner
}

pub fn taken_out(path: &str) -> RawFd {
    File::open(path).unwrap().into_raw_fd() // ok
}

pub fn kept(path: &str) -> i32 {
    let file = File::open(path).unwrap();
    let fd = file.as_raw_fd(); // ok
    unsafe { libc::fsync(fd) }
}

pub fn within_one_call(path: &str) -> i32 {
    unsafe { libc::fsync(File::open(path).unwrap().as_raw_fd()) } // ok
}

pub fn of_parameter(file: &File) -> RawFd {
    file.as_raw_fd() // ok
}

pub fn of_registry(registry: &Registry) -> RawFd {
    registry.open("log").unwrap().as_raw_fd() // ok
}
