//! The driver: sends GETs in batches of so many, each batch in one write, and waits for all their answers.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use alula_hpack::{Encoder, EncoderConfig, Policy};

use crate::decode::block;
use crate::encode::fields;
use crate::frames::{ACK, END_HEADERS, END_STREAM, HEADERS, Input, PREFACE, SETTINGS, WINDOW_UPDATE, push};
use crate::peer;

/// Connects to the server on this port and to its control port; there, eight octets say how many requests to make, and one
/// octet answers that their answers are all here.
pub(crate) fn drive(port: u16, control: u16, in_flight: u64) -> io::Result<()> {
    peer::end_with_input();
    let mut driver = Driver::connect(port)?;
    obey(control, in_flight, |requests| driver.batch(requests))
}

/// Does what the control port says: makes so many requests in batches of so many.
pub(crate) fn obey(
    control: u16,
    in_flight: u64,
    mut batch: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut control = TcpStream::connect(("127.0.0.1", control))?;
    let mut number = [0; 8];
    while control.read_exact(&mut number).is_ok() {
        let requests = u64::from_be_bytes(number);
        for _ in 0..requests / in_flight {
            batch(in_flight)?;
        }
        batch(requests % in_flight)?;
        control.write_all(&[1])?;
    }
    Ok(())
}

struct Driver {
    socket: TcpStream,
    input: Input,
    out: Vec<u8>,
    /// The block of the first request, which fills the table, and the one of all others.
    blocks: [Vec<u8>; 2],
    next_stream: u32,
}

impl Driver {
    fn connect(port: u16) -> io::Result<Self> {
        let socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_nodelay(true)?;
        let authority = format!("127.0.0.1:{port}");
        let list = [
            (":method", "GET"),
            (":scheme", "http"),
            (":authority", &*authority.leak()),
            (":path", "/hello"),
            ("user-agent", "alula-bench/1.0"),
            ("accept", "*/*"),
        ];
        let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
        let blocks = [(); 2].map(|()| block(&mut encoder, fields(&list)));
        assert_eq!(blocks[1].len(), list.len(), "all are in the table");
        let mut out = PREFACE.to_vec();
        push(&mut out, SETTINGS, 0, 0, &[]);
        // The answers of a run are less than that, so that windows are no matter.
        push(&mut out, WINDOW_UPDATE, 0, 0, &0x7000_0000_u32.to_be_bytes());
        Ok(Self { socket, input: Input::new(), out, blocks, next_stream: 1 })
    }

    fn batch(&mut self, requests: u64) -> io::Result<()> {
        for _ in 0..requests {
            let block = &self.blocks[usize::from(self.next_stream > 1)];
            push(&mut self.out, HEADERS, END_HEADERS | END_STREAM, self.next_stream, block);
            self.next_stream += 2;
        }
        self.flush()?;
        let mut answers = 0;
        while answers < requests {
            answers += self.answers()?;
        }
        self.flush()
    }

    /// Counts the answers among the frames that are there, else waits for more.
    fn answers(&mut self) -> io::Result<u64> {
        let mut answers = 0;
        while let Some(frame) = self.input.frame() {
            answers += u64::from(frame.ends_stream());
            if frame.kind == SETTINGS && frame.flags & ACK == 0 {
                push(&mut self.out, SETTINGS, ACK, 0, &[]);
            }
        }
        if answers == 0 && !self.input.read(&mut self.socket)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(answers)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}
