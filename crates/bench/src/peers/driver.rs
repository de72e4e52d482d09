//! The driver: sends GETs in batches of so many, each batch in one write, and waits for all their answers.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use alula_hpack::{Encoder, EncoderConfig, Policy};
use alula_testkit::traffic::Traffic;

use crate::hpack::decode::block;
use crate::hpack::encode::field_but;
use crate::peers;
use crate::peers::frames::{
    ACK, END_HEADERS, END_STREAM, HEADERS, Input, PING, PREFACE, SETTINGS, WINDOW_UPDATE, push,
};
use crate::peers::http1;

/// The requests of a load, and how many of them are in flight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Load {
    pub(crate) is_http1: bool,
    pub(crate) asked: Asked,
    pub(crate) in_flight: u64,
}

/// The requests that are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asked {
    /// Over HTTP/2, a block of nothing but indexes, the same every time. No other program's load sends it.
    Indexed,
    /// A literal path in each, as h2load and nghttp2 send it.
    Traffic(Traffic),
}

impl Load {
    /// Reads the arguments `h1|h2 TRAFFIC IN_FLIGHT`.
    pub(crate) fn parse([version, asked, in_flight]: [&str; 3]) -> Option<Self> {
        let is_http1 = version == "h1";
        let asked = match asked {
            "indexed" => Asked::Indexed,
            name => Asked::Traffic(Traffic::parse(name)?),
        };
        Some(Self { is_http1, asked, in_flight: in_flight.parse().ok()? })
    }

    /// The arguments that [`parse`](Self::parse) reads.
    pub(crate) fn args(self) -> [String; 3] {
        let version = if self.is_http1 { "h1" } else { "h2" };
        let asked = match self.asked {
            Asked::Indexed => "indexed",
            Asked::Traffic(traffic) => traffic.name(),
        };
        [version.to_owned(), asked.to_owned(), self.in_flight.to_string()]
    }

    /// Connects to the server on this port and to its control port; there, eight bytes say how many requests
    /// to make, and one byte answers that their answers are all here.
    pub(crate) fn drive(self, port: u16, control: u16) -> io::Result<()> {
        peers::end_with_input();
        let mut batch = self.connect(port)?;
        let mut control = TcpStream::connect(("127.0.0.1", control))?;
        let mut number = [0; 8];
        while control.read_exact(&mut number).is_ok() {
            self.requests(u64::from_be_bytes(number), &mut batch)?;
            control.write_all(&[1])?;
        }
        Ok(())
    }

    /// Makes so many requests of any server on this port, and prints how many were answered in a second.
    pub(crate) fn once(self, port: u16, requests: u64) -> io::Result<()> {
        let mut batch = self.connect(port)?;
        let start = Instant::now();
        self.requests(requests, &mut batch)?;
        println!("{:.1}", requests as f64 / start.elapsed().as_secs_f64());
        Ok(())
    }

    fn requests(self, requests: u64, batch: &mut Batch) -> io::Result<()> {
        for _ in 0..requests / self.in_flight {
            batch(self.in_flight)?;
        }
        batch(requests % self.in_flight)
    }

    fn connect(self, port: u16) -> io::Result<Batch> {
        let socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_nodelay(true)?;
        let authority = format!("127.0.0.1:{port}");
        match self.asked {
            Asked::Traffic(traffic) if self.is_http1 => Ok(http1::batches(socket, traffic, authority)),
            asked => {
                let mut driver = Driver::new(socket, asked, authority);
                Ok(Box::new(move |requests| driver.batch(requests)))
            }
        }
    }
}

/// Makes so many requests in one write and waits for their answers.
pub(crate) type Batch = Box<dyn FnMut(u64) -> io::Result<()>>;

/// A client's connection of HTTP/2.
struct Driver {
    socket: TcpStream,
    input: Input,
    out: Vec<u8>,
    blocks: Blocks,
    next_stream: u32,
}

impl Driver {
    fn new(socket: TcpStream, asked: Asked, authority: String) -> Self {
        let mut out = PREFACE.to_vec();
        push(&mut out, SETTINGS, 0, 0, &[]);
        // The answers of a run are less than that, so that windows are no matter.
        push(&mut out, WINDOW_UPDATE, 0, 0, &0x7000_0000_u32.to_be_bytes());
        Self { socket, input: Input::new(), out, blocks: Blocks::new(asked, authority), next_stream: 1 }
    }

    fn batch(&mut self, requests: u64) -> io::Result<()> {
        for _ in 0..requests {
            let block = self.blocks.next();
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
            match (frame.kind, frame.flags & ACK) {
                (SETTINGS, 0) => push(&mut self.out, SETTINGS, ACK, 0, &[]),
                (PING, 0) => push(&mut self.out, PING, ACK, 0, frame.payload),
                _ => {}
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

/// The field blocks of one request after another.
struct Blocks {
    encoder: Encoder,
    asked: Asked,
    authority: String,
    number: usize,
    block: Vec<u8>,
}

impl Blocks {
    fn new(asked: Asked, authority: String) -> Self {
        let encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
        Self { encoder, asked, authority, number: 0, block: Vec::new() }
    }

    /// Of requests that repeat, the first fills the table and all others are as the second.
    fn next(&mut self) -> &[u8] {
        let repeats = matches!(self.asked, Asked::Indexed | Asked::Traffic(Traffic::Repeated));
        if !repeats || self.number < 2 {
            self.block = self.make();
        }
        self.number += 1;
        &self.block
    }

    /// Enters every field but the path, as nghttp2 does.
    fn make(&mut self) -> Vec<u8> {
        let (traffic, literal) = match self.asked {
            Asked::Indexed => (Traffic::Repeated, ""),
            Asked::Traffic(traffic) => (traffic, ":path"),
        };
        let fields = traffic.request(self.number, &self.authority);
        block(&mut self.encoder, fields.iter().map(|(name, value)| field_but(name, value, literal)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_of(asked: Asked, number: usize) -> Vec<u8> {
        let mut blocks = Blocks::new(asked, "127.0.0.1:55883".to_owned());
        (0..number).for_each(|_| drop(blocks.next().to_vec()));
        blocks.next().to_vec()
    }

    /// The bytes were recorded from h2load 1.52.
    #[test]
    fn a_repeated_request_is_byte_for_byte_that_of_h2load() {
        let recorded = [0x04, 0x85, 0x62, 0x72, 0xd1, 0x41, 0xff, 0x86, 0xbf, 0x82, 0xbe];
        for number in [1, 2, 9] {
            assert_eq!(block_of(Asked::Traffic(Traffic::Repeated), number), recorded);
        }
    }

    /// `crates/xtask/src/bench/stacks/floor.rs` has them, with the header of a frame.
    #[test]
    fn blocks_are_as_long_as_the_floor_has_them() {
        let mean = |traffic| {
            let mut blocks = Blocks::new(Asked::Traffic(traffic), "127.0.0.1:55883".to_owned());
            let bytes: Vec<usize> = (0..2048).map(|_| blocks.next().len()).collect();
            bytes[1024..].iter().sum::<usize>() / 1024
        };
        assert_eq!(Traffic::ALL.map(mean), [11, 35, 184]);
    }

    #[test]
    fn only_blocks_of_indexes_could_be_remembered() {
        let is_indexed = |block: &[u8]| block.iter().all(|byte| byte & 0x80 != 0);
        assert!(is_indexed(&block_of(Asked::Indexed, 3)));
        for traffic in Traffic::ALL {
            assert!(!is_indexed(&block_of(Asked::Traffic(traffic), 3)), "{traffic:?}");
        }
    }

    #[test]
    fn a_load_is_parsed_from_its_own_arguments() {
        for asked in [Asked::Indexed, Asked::Traffic(Traffic::Proxied)] {
            let load = Load { is_http1: false, asked, in_flight: 32 };
            assert_eq!(Load::parse(load.args().each_ref().map(|arg| &**arg)), Some(load));
        }
        assert_eq!(Load::parse(["h2", "what", "1"]), None);
    }
}
