//! `/gzip`, `/deflate`, `/brotli` and `/zstd`: content in a coding.
//!
//! The first two are compressed. Bytes in the others are stored and not made fewer, which these formats
//! allow: a decoder has all of it to read, and an encoder is 180 kB (zstd) and 1 MB (br) of program; that of
//! the first two is 60 kB.

use std::io::Read;

use alula::Answer;
use flate2::{
    Compression,
    bufread::{GzEncoder, ZlibEncoder},
};

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

/// A member of gzip (RFC 1952), of no time.
fn to_gzip(content: &[u8]) -> Vec<u8> {
    coded_by(GzEncoder::new(content, Compression::default()))
}

/// A stream of zlib (RFC 1950), which is what the coding `deflate` is (RFC 9110 §8.4.1.2).
fn to_zlib(content: &[u8]) -> Vec<u8> {
    coded_by(ZlibEncoder::new(content, Compression::default()))
}

fn coded_by(mut encoder: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    // It reads memory, which does not fail.
    let _ = encoder.read_to_end(&mut out);
    out
}

/// Uncompressed meta-blocks with a window of 64 KiB, and an empty last one (RFC 7932 §9).
fn to_brotli(content: &[u8]) -> Vec<u8> {
    /// The bit behind four nibbles of a length: the bytes follow as they are.
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
    // One segment, and a length of four bytes.
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

#[cfg(test)]
mod tests {
    use std::{net::SocketAddr, sync::mpsc, thread};

    use alula::{Client, Error, Exchange, Sent, Server, Status, Stop};

    use super::*;

    #[test]
    fn content_is_compressed_by_those_that_have_an_encoder() {
        let content = "{\"a\": \"b\"}\n".repeat(100);
        for (coding, encode) in ENCODERS {
            let is_less = encode(content.as_bytes()).len() * 10 < content.len();
            assert_eq!(is_less, matches!(coding, "gzip" | "deflate"), "{coding}");
        }
    }

    #[test]
    fn content_of_any_length_is_decoded_to_what_it_was() {
        let (address, stop) = start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::builder().decompress(true).build().unwrap();
            for (coding, _) in ENCODERS {
                for bytes in LENGTHS {
                    let url = format!("http://{address}/{coding}/{bytes}");
                    let mut response = client.get(&url).send().await.unwrap();
                    assert!(response.body().bytes().await.unwrap() == content(bytes), "{coding} {bytes}");
                }
            }
        });
        stop.stop();
    }

    type Encode = fn(&[u8]) -> Vec<u8>;

    const ENCODERS: [(&str, Encode); 4] =
        [("gzip", to_gzip), ("deflate", to_zlib), ("br", to_brotli), ("zstd", to_zstd)];
    /// The lengths just below and above the bounds of blocks.
    const LENGTHS: [usize; 8] = [0, 1, 0xfffe, 0xffff, 0x1_0000, 0x1_0001, 0x2_0000, 300_000];

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| ((at * at) >> 7) as u8).collect()
    }

    /// A server that answers `/CODING/BYTES`.
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
        let (coding, bytes) = path[1..].split_once('/').unwrap();
        let (_, encode) = ENCODERS.iter().find(|(own, _)| *own == coding).unwrap();
        let content = encode(&content(bytes.parse().unwrap()));
        exchange.respond(Status::OK).header("content-encoding", coding).send(content).await
    }
}
