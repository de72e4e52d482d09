//! The fixed server: answers every request on a connection with the same or varying fields and so many
//! bytes, all that one read brought in one write.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use alula_hpack::{Encoder, EncoderConfig, Policy};
use alula_testkit::lists::{PAGE, Pair, RESPONSE};
use alula_testkit::traffic;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::hpack::decode::block;
use crate::hpack::encode::{field_but, fields};
use crate::peers;
use crate::peers::frames::{
    ACK, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, Input, PAYLOAD_MAX, PING, SETTINGS, WINDOW_UPDATE,
    push,
};
use crate::peers::records::Counting;

/// Which answer, and how.
#[derive(Clone, Copy)]
pub(crate) struct Answers {
    pub(crate) fields: &'static [Pair],
    pub(crate) content: usize,
    pub(crate) with_tls: bool,
    /// Each answer has the fields of [`traffic::answer`] instead.
    pub(crate) varies: bool,
}

impl Answers {
    /// From the arguments `[tls] [page] [varied] BYTES` of a peer.
    pub(crate) fn parse(args: &[&str]) -> Option<Self> {
        let (content, options) = args.split_last()?;
        let with_tls = options.contains(&"tls");
        let fields = if options.contains(&"page") { &PAGE[..] } else { &RESPONSE[..] };
        let varies = options.contains(&"varied");
        Some(Self { fields, content: content.parse().ok()?, with_tls, varies })
    }

    /// Prints the port and serves until the standard input ends.
    pub(crate) fn serve(self) {
        peers::end_with_input();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        println!("{}", listener.local_addr().expect("it is bound").port());
        let tls = self.with_tls.then(|| Arc::new(tls_config()));
        for socket in listener.incoming() {
            let (socket, tls) = (socket.expect("accepted"), tls.clone());
            std::thread::spawn(move || self.serve_one(socket, tls));
        }
    }

    fn serve_one(self, socket: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<()> {
        socket.set_nodelay(true)?;
        match tls {
            None => Connection::new(socket, self).run(),
            Some(config) => {
                let tls = ServerConnection::new(config).map_err(io::Error::other)?;
                Connection::new(StreamOwned::new(tls, Counting::new(socket)), self).run()
            }
        }
    }
}

/// A certificate made on the spot, for whoever trusts anything.
fn tls_config() -> ServerConfig {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let chain = vec![certified.cert.der().clone()];
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key.into())
        .expect("a valid pair");
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

struct Connection<S> {
    socket: S,
    input: Input,
    out: Vec<u8>,
    content: Vec<u8>,
    blocks: Blocks,
    /// Streams of requests that came while there was no window for an answer.
    waiting: VecDeque<u32>,
    /// What may be sent on the connection, and on a new stream.
    window: i64,
    stream_window: i64,
}

impl<S: Read + Write> Connection<S> {
    fn new(socket: S, answers: Answers) -> Self {
        let blocks = if answers.varies { Blocks::varied(answers.content) } else { Blocks::same(answers) };
        let content = vec![b'a'; answers.content];
        Self {
            socket,
            input: Input::new(),
            out: Vec::new(),
            content,
            blocks,
            waiting: VecDeque::new(),
            window: 65_535,
            stream_window: 65_535,
        }
    }

    fn run(mut self) -> io::Result<()> {
        self.input.skip_preface(&mut self.socket)?;
        push(&mut self.out, SETTINGS, 0, 0, &[]);
        loop {
            while let Some(stream) = self.next_request() {
                self.answer(stream)?;
            }
            self.flush()?;
            if !self.input.read(&mut self.socket)? {
                return Ok(());
            }
        }
    }

    /// The stream of the next request that is there.
    fn next_request(&mut self) -> Option<u32> {
        if let Some(stream) = self.waiting.pop_front() {
            return Some(stream);
        }
        while let Some(frame) = self.input.frame() {
            if frame.kind == HEADERS {
                return Some(requested(&frame));
            }
            match frame {
                Frame { kind: SETTINGS, flags: 0, .. } => {
                    self.stream_window = frame.setting(4).map_or(self.stream_window, i64::from);
                    push(&mut self.out, SETTINGS, ACK, 0, &[]);
                }
                Frame { kind: WINDOW_UPDATE, stream: 0, .. } => self.window += i64::from(frame.number(0)),
                Frame { kind: PING, flags: 0, .. } => push(&mut self.out, PING, ACK, 0, frame.payload),
                _ => {}
            }
        }
        None
    }

    fn answer(&mut self, stream: u32) -> io::Result<()> {
        let end = if self.content.is_empty() { END_STREAM } else { 0 };
        push(&mut self.out, HEADERS, END_HEADERS | end, stream, self.blocks.next());
        let (mut sent, mut window) = (0, self.stream_window);
        while sent < self.content.len() {
            let most = (self.content.len() - sent).min(PAYLOAD_MAX) as i64;
            let now = most.min(window).min(self.window);
            if now == 0 {
                window += self.wait_for_window(stream)?;
                continue;
            }
            (window, self.window) = (window - now, self.window - now);
            let next = sent + now as usize;
            let end = if next == self.content.len() { END_STREAM } else { 0 };
            push(&mut self.out, DATA, end, stream, &self.content[sent..next]);
            sent = next;
        }
        Ok(())
    }

    /// Sends what is ready and looks for frames that give window: says what the stream's got. They may have
    /// come with the request already. Requests among them wait for their turn.
    fn wait_for_window(&mut self, stream: u32) -> io::Result<i64> {
        self.flush()?;
        let (mut got, before) = (0, self.window);
        loop {
            while let Some(frame) = self.input.frame() {
                match frame {
                    Frame { kind: WINDOW_UPDATE, stream: 0, .. } => self.window += i64::from(frame.number(0)),
                    Frame { kind: WINDOW_UPDATE, stream: own, .. } if own == stream => {
                        got += i64::from(frame.number(0));
                    }
                    Frame { kind: HEADERS, .. } => self.waiting.push_back(requested(&frame)),
                    _ => {}
                }
            }
            if got > 0 || self.window > before {
                return Ok(got);
            }
            if !self.input.read(&mut self.socket)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.out)?;
        self.out.clear();
        self.socket.flush()
    }
}

/// The field blocks of one answer after another.
enum Blocks {
    /// The first, which fills the table, and the one of all others.
    Same {
        blocks: [Vec<u8>; 2],
        answered: usize,
    },
    Varied {
        encoder: Box<Encoder>,
        length: String,
        answered: usize,
        block: Vec<u8>,
    },
}

impl Blocks {
    fn same(answers: Answers) -> Self {
        let length = answers.content.to_string().leak();
        let mut list = vec![(":status", "200"), ("content-length", &*length)];
        list.extend_from_slice(answers.fields);
        let mut encoder = encoder();
        let blocks = [(); 2].map(|()| block(&mut encoder, fields(&list)));
        assert_eq!(blocks[1].len(), list.len(), "all are in the table");
        Self::Same { blocks, answered: 0 }
    }

    fn varied(content: usize) -> Self {
        let (encoder, length) = (Box::new(encoder()), content.to_string());
        Self::Varied { encoder, length, answered: 0, block: Vec::new() }
    }

    fn next(&mut self) -> &[u8] {
        match self {
            Self::Same { blocks, answered } => {
                *answered += 1;
                &blocks[(*answered - 1).min(1)]
            }
            Self::Varied { encoder, length, answered, block } => {
                *block = varied_block(encoder, length, *answered);
                *answered += 1;
                block
            }
        }
    }
}

/// Enters every field but the entity tag, as nghttp2 does.
fn varied_block(encoder: &mut Encoder, length: &str, number: usize) -> Vec<u8> {
    let answer = traffic::answer(number);
    let first = [(":status", "200"), ("content-length", length)];
    let fields = first.into_iter().chain(answer.iter().map(|(name, value)| (*name, &**value)));
    block(encoder, fields.map(|(name, value)| field_but(name, value, "etag")))
}

fn encoder() -> Encoder {
    Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() })
}

/// The stream of a request, which is one frame.
fn requested(frame: &Frame<'_>) -> u32 {
    assert!(frame.flags & END_HEADERS != 0 && frame.ends_stream(), "requests are one frame");
    frame.stream
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Gives one piece at a time to read, and keeps what is written.
    struct Pieces {
        input: VecDeque<Vec<u8>>,
        written: Vec<u8>,
    }

    impl Read for Pieces {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let piece = self.input.pop_front().unwrap_or_default();
            buf[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    impl Write for Pieces {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.written.extend_from_slice(buf);
            Ok(buf.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_request_that_comes_while_there_is_no_window_is_answered_later() {
        let request = |out: &mut Vec<u8>, stream| push(out, HEADERS, END_HEADERS | END_STREAM, stream, &[]);
        let (mut first, mut second) = (crate::peers::frames::PREFACE.to_vec(), Vec::new());
        request(&mut first, 1);
        request(&mut first, 3);
        request(&mut second, 5);
        push(&mut second, WINDOW_UPDATE, 0, 0, &100_000_u32.to_be_bytes());
        let mut pieces = Pieces { input: [first, second].into(), written: Vec::new() };
        let answers = Answers { fields: &[], content: 40_000, with_tls: false, varies: false };
        Connection::new(&mut pieces, answers).run().expect("the client ends in order");
        let (mut input, mut written) = (Input::new(), &pieces.written[..]);
        input.read(&mut written).expect("there are bytes");
        let mut ended = Vec::new();
        while let Some(frame) = input.frame() {
            ended.extend(frame.ends_stream().then_some(frame.stream));
        }
        assert_eq!(ended, [1, 3, 5]);
    }
}
