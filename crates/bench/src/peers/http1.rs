//! The other side of a connection of HTTP/1.1: a fixed server, and a driver.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use alula_testkit::lists::RESPONSE;
use alula_testkit::traffic::{self, Traffic};

use crate::peers;
use crate::peers::driver::Batch;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Answers every request with the fields of the client measurements and so many bytes, one write each, on as
/// many connections as there are, each in a thread of its own: prints the port and serves until the standard
/// input ends.
pub(crate) fn serve(content: usize, varies: bool) {
    peers::end_with_input();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    for socket in listener.incoming() {
        let socket = socket.expect("accepted");
        std::thread::spawn(move || answer_all(socket, content, varies));
    }
}

fn answer_all(mut socket: TcpStream, content: usize, varies: bool) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let constant: Vec<traffic::Field> =
        RESPONSE.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let mut answer = answer(&constant, content);
    let mut number = 0;
    let mut input = vec![0; 64 * 1024];
    let mut here = 0;
    loop {
        match socket.read(&mut input[here..])? {
            0 => return Ok(()),
            bytes => here += bytes,
        }
        // One request at a time, without content.
        if input[..here].ends_with(END) {
            if varies {
                answer = self::answer(&traffic::answer(number), content);
                number += 1;
            }
            socket.write_all(&answer)?;
            here = 0;
        }
    }
}

pub(crate) fn answer(fields: &[traffic::Field], content: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {content}\r\n{}\r\n", lines(fields));
    [head.as_bytes(), &vec![b'a'; content]].concat()
}

fn lines(fields: &[traffic::Field]) -> String {
    fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

/// Makes GETs in batches, each in one write. An answer is here when its head is; the rest of the last content
/// is read with the next.
pub(crate) fn batches(mut socket: TcpStream, traffic: Traffic, authority: String) -> Batch {
    let mut numbers = 0..;
    let mut input = vec![0; 64 * 1024];
    Box::new(move |requests| {
        let heads = numbers.by_ref().take(requests as usize).map(|number| head(traffic, number, &authority));
        socket.write_all(heads.collect::<String>().as_bytes())?;
        let (mut answers, mut before) = (0, [0; END.len()]);
        while answers < requests {
            let bytes = socket.read(&mut input)?;
            if bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            for byte in &input[..bytes] {
                before = [before[1], before[2], before[3], *byte];
                answers += u64::from(before == END);
            }
        }
        Ok(())
    })
}

/// The head as h2load spells it.
pub(crate) fn head(traffic: Traffic, number: usize, authority: &str) -> String {
    let (pseudo, fields): (Vec<_>, Vec<_>) =
        traffic.request(number, authority).into_iter().partition(|(name, _)| name.starts_with(':'));
    let (_, path) = pseudo.iter().find(|(name, _)| *name == ":path").expect("every request has a path");
    format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n{}\r\n", lines(&fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text was recorded from h2load 1.52.
    #[test]
    fn a_repeated_request_is_byte_for_byte_that_of_h2load() {
        let recorded =
            "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:55883\r\nuser-agent: h2load nghttp2/1.52.0\r\n\r\n";
        assert_eq!(head(Traffic::Repeated, 7, "127.0.0.1:55883"), recorded);
    }

    /// `crates/xtask/src/bench/stacks/floor.rs` has them.
    #[test]
    fn heads_are_as_long_as_the_floor_has_them() {
        let bytes = |traffic, number| head(traffic, number, "127.0.0.1:55883").len();
        let mean = |traffic| (0..1024).map(|number| bytes(traffic, number)).sum::<usize>() / 1024;
        assert_eq!(Traffic::ALL.map(mean), [81, 127, 619]);
    }
}
