//! `/gzip`, `/deflate`, `/brotli` and `/zstd`: content in a coding.
//!
//! The octets are stored and not made fewer, which every one of these formats allows: a decoder has all of it to read.

use alula::Answer;

use super::{asked::Asked, inspection, made::Made};

pub(super) fn gzip(asked: &Asked<'_>) -> Result<Made, Answer> {
    inspection::coded(asked, "gzipped")?.coded("gzip", to_gzip)
}

pub(super) fn deflate(asked: &Asked<'_>) -> Result<Made, Answer> {
    inspection::coded(asked, "deflated")?.coded("deflate", to_zlib)
}

pub(super) fn brotli(asked: &Asked<'_>) -> Result<Made, Answer> {
    inspection::coded(asked, "brotli")?.coded("br", to_brotli)
}

pub(super) fn zstd(asked: &Asked<'_>) -> Result<Made, Answer> {
    inspection::coded(asked, "zstd")?.coded("zstd", to_zstd)
}

/// A member of gzip (RFC 1952 §2.3), of no time and an unknown system.
fn to_gzip(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    push_stored(&mut out, content);
    out.extend_from_slice(&crc_32(content).to_le_bytes());
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out
}

/// A stream of zlib (RFC 1950 §2.2), which is what the coding `deflate` is (RFC 9110 §8.4.1.2).
fn to_zlib(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    push_stored(&mut out, content);
    out.extend_from_slice(&adler_32(content).to_be_bytes());
    out
}

/// Stored blocks (RFC 1951 §3.2.4).
fn push_stored(out: &mut Vec<u8>, content: &[u8]) {
    let mut blocks = content.chunks(0xffff).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
}

/// Uncompressed meta-blocks with a window of 64 KiB, and an empty last one (RFC 7932 §9).
fn to_brotli(content: &[u8]) -> Vec<u8> {
    /// The bit behind four nibbles of a length: the octets follow as they are.
    const UNCOMPRESSED: u32 = 1 << 19;
    let mut out = Vec::new();
    for (number, block) in content.chunks(0x1_0000).enumerate() {
        let header = (block.len() as u32 - 1) << 3 | UNCOMPRESSED;
        // The first one stands behind a bit for the window.
        let header = if number == 0 { header << 1 } else { header };
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    // The last meta-block, which is empty, also behind the bit for the window.
    out.push(if content.is_empty() { 0b110 } else { 0b11 });
    out
}

/// A frame of raw blocks with its length in the header (RFC 8878 §3.1.1).
fn to_zstd(content: &[u8]) -> Vec<u8> {
    let mut out = 0xfd2f_b528_u32.to_le_bytes().to_vec();
    // One segment, and a length of four octets.
    out.push(0b1010_0000);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    let mut blocks = content.chunks(0x1_0000).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0]);
    }
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

/// The checksum of gzip (RFC 1952 §8).
fn crc_32(octets: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let sum = octets.iter().fold(!0, |sum, octet| (0..8).fold(sum ^ u32::from(*octet), |sum, _| step(sum)));
    !sum
}

/// The checksum of zlib (RFC 1950 §8).
fn adler_32(octets: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = octets.iter().fold((1, 0), |(low, high), octet| {
        let low = (low + u32::from(*octet)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use std::{net::SocketAddr, sync::mpsc, thread};

    use alula::{Client, Error, Exchange, Sent, Server, Status, Stop};

    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(crc_32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler_32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!((crc_32(b""), adler_32(b"")), (0, 1));
    }

    #[test]
    fn content_of_any_length_is_decoded_to_what_it_was() {
        let (address, stop) = start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::builder().decompress(true).build().unwrap();
            for (coding, _) in ENCODERS {
                for octets in LENGTHS {
                    let url = format!("http://{address}/{coding}/{octets}");
                    let mut response = client.get(&url).send().await.unwrap();
                    assert!(response.body().bytes().await.unwrap() == content(octets), "{coding} {octets}");
                }
            }
        });
        stop.stop();
    }

    type Encode = fn(&[u8]) -> Vec<u8>;

    const ENCODERS: [(&str, Encode); 4] =
        [("gzip", to_gzip), ("deflate", to_zlib), ("br", to_brotli), ("zstd", to_zstd)];
    /// On both sides of the lengths of blocks.
    const LENGTHS: [usize; 8] = [0, 1, 0xfffe, 0xffff, 0x1_0000, 0x1_0001, 0x2_0000, 300_000];

    fn content(octets: usize) -> Vec<u8> {
        (0..octets).map(|at| ((at * at) >> 7) as u8).collect()
    }

    /// A server that answers `/CODING/OCTETS`.
    fn start() -> (SocketAddr, Stop) {
        let (started, server) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0").await.unwrap();
                started.send((server.address().unwrap(), server.stop_handle())).unwrap();
                server.serve(answer).await.unwrap();
            });
        });
        server.recv().unwrap()
    }

    async fn answer(exchange: Exchange) -> Result<Sent, Error> {
        let path = exchange.request().path().to_owned();
        let (coding, octets) = path[1..].split_once('/').unwrap();
        let (_, encode) = ENCODERS.iter().find(|(own, _)| *own == coding).unwrap();
        let content = encode(&content(octets.parse().unwrap()));
        exchange.respond(Status::OK).header("content-encoding", coding).send(content).await
    }
}
