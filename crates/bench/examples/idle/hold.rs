//! Connections to any server, made by threads that wait, with bytes that any server takes.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::{CONTENT, IN_FLIGHT, words};

/// The version that is spoken on a connection, and its use.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    is_http2: bool,
    is_secure: bool,
    used: Used,
}

/// The bytes that are sent on a connection before it waits.
#[derive(Clone, Copy, PartialEq)]
enum Used {
    /// The start of a connection, as far as the version has one.
    Not,
    /// A request, whose whole answer is read.
    Once,
    /// Half of a head, or of the preface.
    Half,
    /// A hundred requests, with windows that are shut.
    Stalled,
}

/// The streams of a connection that are stalled.
const STREAMS: usize = 100;

/// The bytes of a request over HTTP/1.1.
const REQUEST: &[u8] =
    b"GET /memory HTTP/1.1\r\nhost: localhost\r\nuser-agent: alula-bench/1.0\r\naccept: */*\r\n\r\n";

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The block of the same request: what is constant by its index, the others as literals that are added to the
/// table, 193 bytes of it.
const BLOCK: &[u8] = b"\x82\x86\x41\x09localhost\x44\x07/memory\x7a\x0falula-bench/1.0\x53\x03*/*";

/// The index of `https`, in place of the second byte.
const HTTPS: u8 = 0x87;

/// The block once more, when all of it is in the table.
const BLOCK_AGAIN: &[u8] = b"\x82\x86\xc1\xc0\xbf\xbe";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

impl Kind {
    pub(crate) fn parse(version: &str, used: &str, is_secure: bool) -> Option<Self> {
        let used = match used {
            "unused" => Used::Not,
            "once" => Used::Once,
            "half" => Used::Half,
            "stalled" => Used::Stalled,
            _ => return None,
        };
        Some(Self { is_http2: version == "h2", is_secure, used })
    }
}

/// Makes the connections when told to, and keeps them.
pub(crate) fn run(kind: Kind, port: u16, count: usize, roots: Option<&str>) -> io::Result<()> {
    let (words, config) = (words(), roots.map(|roots| config(kind, roots)).transpose()?);
    println!("0");
    words.recv().map_err(io::Error::other)?;
    let makers: Vec<_> = (0..IN_FLIGHT)
        .map(|maker| {
            let (config, share) = (config.clone(), (count + maker) / IN_FLIGHT);
            thread::spawn(move || (0..share).map(|_| connect(kind, port, config.as_ref())).collect())
        })
        .collect();
    let mut held = Vec::new();
    for maker in makers {
        let made: io::Result<Vec<TcpStream>> = maker.join().expect("no maker panics");
        held.extend(made?);
    }
    println!("{}", held.len());
    // Until this process ends.
    while words.recv().is_ok() {}
    Ok(())
}

/// Every connection has a handshake of its own.
fn config(kind: Kind, roots: &str) -> io::Result<Arc<ClientConfig>> {
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(&fs::read(roots)?) {
        store.add(root.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let mut config = config.with_root_certificates(store).with_no_client_auth();
    config.alpn_protocols = vec![if kind.is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// A connection of which nothing but the socket is kept.
fn connect(kind: Kind, port: u16, config: Option<&Arc<ClientConfig>>) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    let Some(config) = config else {
        take(kind, &mut socket)?;
        return Ok(socket);
    };
    let name = ServerName::try_from("127.0.0.1").map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    let mut tls = StreamOwned::new(session, socket);
    while tls.conn.is_handshaking() {
        tls.conn.complete_io(&mut tls.sock)?;
    }
    take(kind, &mut tls)?;
    Ok(tls.sock)
}

/// Uses the connection as its kind says.
fn take(kind: Kind, io: &mut (impl Read + Write)) -> io::Result<()> {
    match (kind.is_http2, kind.used) {
        (false, Used::Not) => Ok(()),
        (false, Used::Once | Used::Stalled) => ask_http1(io),
        (false, Used::Half) => io.write_all(&REQUEST[..REQUEST.len() / 2]),
        (true, Used::Half) => io.write_all(&PREFACE[..PREFACE.len() / 2]),
        (true, Used::Not) => ask_http2(kind, io, 0),
        (true, Used::Once) => ask_http2(kind, io, 1),
        (true, Used::Stalled) => ask_http2(kind, io, STREAMS),
    }
}

fn ask_http1(io: &mut (impl Read + Write)) -> io::Result<()> {
    io.write_all(REQUEST)?;
    let mut input = Vec::new();
    while !is_whole(&input) {
        read_more(io, &mut input)?;
    }
    Ok(())
}

/// Returns true if this is a head with all of its content behind it.
fn is_whole(input: &[u8]) -> bool {
    let end = input.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    end.is_some_and(|end| input.len() - end - 4 >= CONTENT)
}

/// Opens so many streams, and waits until each has its head if they are stalled and its end if not. No other
/// bytes come on them.
fn ask_http2(kind: Kind, io: &mut (impl Read + Write), streams: usize) -> io::Result<()> {
    let Kind { is_secure, used, .. } = kind;
    let is_stalled = used == Used::Stalled;
    let mut out = PREFACE.to_vec();
    // SETTINGS_INITIAL_WINDOW_SIZE.
    let shut = [0, 4, 0, 0, 0, 0];
    push(&mut out, SETTINGS, 0, 0, if is_stalled { &shut } else { &[] });
    for stream in 0..streams {
        let mut block = if stream == 0 { BLOCK } else { BLOCK_AGAIN }.to_vec();
        block[1] = if is_secure { HTTPS } else { block[1] };
        push(&mut out, HEADERS, END_HEADERS | END_STREAM, 2 * stream as u32 + 1, &block);
    }
    io.write_all(&out)?;
    let (mut input, mut answered, mut has_settings) = (Vec::new(), 0, false);
    while answered < streams || !has_settings {
        let Some((kind, flags)) = next_frame(&mut input) else {
            read_more(io, &mut input)?;
            continue;
        };
        let is_end = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        answered += usize::from(if is_stalled { kind == HEADERS } else { is_end });
        has_settings |= kind == SETTINGS && flags & ACK == 0;
    }
    out.clear();
    push(&mut out, SETTINGS, ACK, 0, &[]);
    io.write_all(&out)
}

fn push(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Takes a frame that is there whole: its kind and its flags.
fn next_frame(input: &mut Vec<u8>) -> Option<(u8, u8)> {
    let header = input.first_chunk::<9>()?;
    let (length, kind, flags) = ([0, header[0], header[1], header[2]], header[3], header[4]);
    let end = 9 + u32::from_be_bytes(length) as usize;
    if input.len() < end {
        return None;
    }
    input.drain(..end);
    Some((kind, flags))
}

fn read_more(io: &mut impl Read, input: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 4096];
    match io.read(&mut bytes)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        read => {
            input.extend_from_slice(&bytes[..read]);
            Ok(())
        }
    }
}
