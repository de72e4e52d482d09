//! The other side of a connection of HTTP/1.1: a fixed server, and a driver.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use alula_testkit::lists::RESPONSE;

use crate::driver;
use crate::peer;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Whether heads are the same every time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Heads {
    Same,
    /// Each has another request id, and a request another path.
    Varied,
}

/// Answers every request with the same fields and so many octets, one write each, on as many connections as there are, each in a
/// thread of its own: prints the port and serves until the standard input ends.
pub(crate) fn serve(content: usize, heads: Heads) {
    peer::end_with_input();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    let answer = answer(content);
    for socket in listener.incoming() {
        let (socket, answer) = (socket.expect("accepted"), answer.clone());
        std::thread::spawn(move || answer_all(socket, answer, heads));
    }
}

fn answer(content: usize) -> Vec<u8> {
    let fields: String = RESPONSE.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {content}\r\n{fields}\r\n");
    [head.as_bytes(), &vec![b'a'; content]].concat()
}

fn answer_all(mut socket: TcpStream, mut answer: Vec<u8>, heads: Heads) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let (_, id) = RESPONSE[RESPONSE.len() - 1];
    let id_at = answer.windows(id.len()).position(|octets| octets == id.as_bytes()).expect("it is there");
    let mut number = 0_u64;
    let mut input = vec![0; 64 * 1024];
    let mut here = 0;
    loop {
        match socket.read(&mut input[here..])? {
            0 => return Ok(()),
            octets => here += octets,
        }
        // One request at a time, without content.
        if input[..here].ends_with(END) {
            if heads == Heads::Varied {
                number += 1;
                answer[id_at..id_at + id.len()].copy_from_slice(format!("{number:016x}").as_bytes());
            }
            socket.write_all(&answer)?;
            here = 0;
        }
    }
}

/// Connects to the server on this port, and does as [`driver::obey`] is told: GETs in batches, each in one write. An answer is
/// here when its head is; what is left of the last content is read with the next.
pub(crate) fn drive(port: u16, control: u16, in_flight: u64, heads: Heads) -> io::Result<()> {
    peer::end_with_input();
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    let fields = format!("host: 127.0.0.1:{port}\r\nuser-agent: alula-bench/1.0\r\naccept: */*\r\n");
    let head = |number: u64| match heads {
        Heads::Same => format!("GET /hello HTTP/1.1\r\n{fields}\r\n"),
        Heads::Varied => {
            format!("GET /hello/{number:08x} HTTP/1.1\r\n{fields}x-request-id: {number:016x}\r\n\r\n")
        }
    };
    let mut numbers = 0..;
    let mut input = vec![0; 64 * 1024];
    driver::obey(control, in_flight, |requests| {
        let asked: String = numbers.by_ref().take(requests as usize).map(head).collect();
        socket.write_all(asked.as_bytes())?;
        let (mut answers, mut before) = (0, [0; END.len()]);
        while answers < requests {
            let octets = socket.read(&mut input)?;
            if octets == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            for octet in &input[..octets] {
                before = [before[1], before[2], before[3], *octet];
                answers += u64::from(before == END);
            }
        }
        Ok(())
    })
}
