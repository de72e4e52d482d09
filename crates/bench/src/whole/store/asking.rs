//! The driver: asks for objects one after another over HTTP/1.1, with the fields of a client of Riak.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use alula_testkit::objects::{MEDIA_TYPE, fields, key, value};

use crate::peers;

/// The objects, asked for in turns.
const OBJECTS: u64 = 256;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Writes the objects; then does as many requests as the control port says, each time it says so.
pub(crate) fn drive(method: &str, port: u16, control: u16) -> io::Result<()> {
    peers::end_with_input();
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    let puts: Vec<Vec<u8>> = (0..OBJECTS).map(put).collect();
    puts.iter().try_for_each(|put| ask(&mut socket, put))?;
    let requests = if method == "GET" { (0..OBJECTS).map(get).collect() } else { puts };
    let mut control = TcpStream::connect(("127.0.0.1", control))?;
    let (mut number, mut next) = ([0; 8], requests.iter().cycle());
    while control.read_exact(&mut number).is_ok() {
        for request in next.by_ref().take(u64::from_be_bytes(number) as usize) {
            ask(&mut socket, request)?;
        }
        control.write_all(&[1])?;
    }
    Ok(())
}

fn get(number: u64) -> Vec<u8> {
    let head = format!(
        "GET /buckets/load-0/keys/{} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: multipart/mixed, */*;q=0.9\r\n\r\n",
        key(number)
    );
    head.into_bytes()
}

fn put(number: u64) -> Vec<u8> {
    let value = value(1, 0, number);
    let mut request = format!(
        "PUT /buckets/load-0/keys/{} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {MEDIA_TYPE}\r\n\
         content-length: {}\r\nx-riak-clientid: load0000\r\n",
        key(number),
        value.len()
    )
    .into_bytes();
    for (name, value) in fields(number) {
        request.extend([name.as_bytes(), b": ", &value, b"\r\n"].concat());
    }
    request.extend([b"\r\n", &value[..]].concat());
    request
}

/// Makes a request and reads its answer to the end.
fn ask(socket: &mut TcpStream, request: &[u8]) -> io::Result<()> {
    socket.write_all(request)?;
    let (mut input, mut here) = ([0; 4096], 0);
    loop {
        match socket.read(&mut input[here..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => here += bytes,
        }
        if whole(&input[..here])? == Some(here) {
            return Ok(());
        }
    }
}

/// The bytes of the answer that begins here, once its head is whole.
fn whole(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(end) = bytes.windows(END.len()).position(|bytes| bytes == END) else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    if !head.starts_with("http/1.1 20") {
        return Err(io::Error::other(head));
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(Ok(0), str::parse::<usize>).map_err(io::Error::other)?;
    Ok(Some(end + END.len() + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_answer_is_found() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
        assert_eq!(whole(answer).expect("a success"), Some(answer.len()));
        assert_eq!(whole(b"HTTP/1.1 204 No Content\r\n\r\n").expect("a success"), Some(27));
        assert_eq!(whole(b"HTTP/1.1 200 OK\r\n").expect("a part"), None);
        whole(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap_err();
    }
}
