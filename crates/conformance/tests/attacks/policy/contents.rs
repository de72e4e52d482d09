//! Content that grows when it is decoded, is damaged, or does not end.

use std::{io::Write as _, process::Command, time::Duration};

use alula::{Client, Error, Response};
use alula_conformance::attack::{ByItself, held, told};
use alula_conformance::folder::Folder;
use alula_conformance::{environment, outcome};
use flate2::{Compression, write::GzEncoder};

use super::site::{Answer, Site, block_on, clients, send};

/// What the bombs unpack to.
const BOMB_BYTES: usize = 16 << 20;
/// So much of a bomb is seen before it is known for one, and a step of the decoder.
const SEEN_MAX: u64 = (1 << 20) + (64 << 10);
/// What a client may hold while it reads a bomb piece by piece: its buffers and the decoder. The memory of
/// zstd is C's and not counted; its window bounds it.
const MEMORY_MAX: i64 = 512 << 10;
/// A window of 16 MiB, which a stream of br may ask for, and as above.
const BROTLI_MEMORY_MAX: i64 = 20 << 20;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
    zstd_safe::compress(&mut packed, content, 1).expect("it fits");
    packed
}

/// Packed by a stream whose length is not known, so that the window is as large as it is said to be.
fn zstd_with_window(log: u32) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::WindowLog(log)).expect("such a window");
    let mut packed = Vec::with_capacity(1 << 16);
    let mut out = zstd_safe::OutBuffer::around(&mut packed);
    context.compress_stream(&mut out, &mut zstd_safe::InBuffer::around(b"content")).expect("it fits");
    assert_eq!(context.end_stream(&mut out), Ok(0));
    packed
}

fn brotli(content: &[u8]) -> Vec<u8> {
    let folder = Folder::new();
    let plain = folder.write("plain", content);
    let mut command = Command::new("brotli");
    outcome::run(command.args(["-q", "5", "-c"]).arg(plain), Duration::from_secs(60)).expect_success().stdout
}

/// A server whose content comes in these codings.
fn site(codings: &'static str, content: Vec<u8>) -> Site {
    Site::start(move |_| Answer::new(200).header("content-encoding", codings).content(content.clone()))
}

/// Reads all content piece by piece, and keeps nothing of it: nor the client, since what that frees later
/// would count as freed by whoever is watched then.
async fn read(client: Client, site: &Site) -> (Result<Response, Error>, u64) {
    let mut bytes = 0;
    let mut response = match send(client.get(&site.url("/"))).await {
        Ok(response) => response,
        Err(error) => return (Err(error), bytes),
    };
    loop {
        match response.body().chunk().await {
            Ok(Some(chunk)) => bytes += chunk.len() as u64,
            Ok(None) => return (Ok(response), bytes),
            Err(error) => return (Err(error), bytes),
        }
    }
}

fn bomb(attack: &str, codings: &'static str, packed: Vec<u8>, memory_max: i64) {
    assert!(packed.len() * 200 < BOMB_BYTES, "{} bytes are no bomb", packed.len());
    let site = site(codings, packed);
    for client in clients(|builder| builder.decompress(true)) {
        let ((outcome, bytes), peak) = held(|| block_on(read(client, &site)));
        println!("{attack}: {bytes} bytes seen, {peak} held");
        assert!(bytes <= SEEN_MAX, "{attack}: {bytes} bytes were handed over");
        assert!(peak <= memory_max, "{attack}: {peak} bytes were held");
        ByItself::check(attack, "a hundredfold, beyond 1 MiB", &told(&outcome));
    }
}

#[test]
fn bombs() {
    bomb("a bomb in gzip", "gzip", gzip(&vec![0; BOMB_BYTES]), MEMORY_MAX);
    bomb("a bomb in gzip, in gzip", "gzip, gzip", gzip(&gzip(&vec![0; BOMB_BYTES])), MEMORY_MAX);
    bomb("a bomb in zstd", "zstd", zstd(&vec![0; BOMB_BYTES]), MEMORY_MAX);
}

#[test]
fn bomb_in_brotli() {
    if environment::no_peers() {
        return;
    }
    bomb("a bomb in br", "br", brotli(&vec![0; BOMB_BYTES]), BROTLI_MEMORY_MAX);
}

#[test]
fn more_than_is_allowed() {
    const BYTES: u64 = 1 << 20;
    let site = site("gzip", gzip(&vec![b'x'; BYTES as usize]));
    for max in [1, BYTES - 1] {
        for client in clients(|builder| builder.decompress(true).decoded_max(max)) {
            let (outcome, bytes) = block_on(read(client, &site));
            assert!(bytes <= max, "{bytes} of {max}");
            let told = told(&outcome).replace(&format!(" {max} bytes"), " so many bytes");
            ByItself::check("content that grows beyond what is allowed", "`decoded_max`", &told);
        }
    }
    for client in clients(|builder| builder.decompress(true).decoded_max(BYTES)) {
        let (outcome, bytes) = block_on(read(client, &site));
        assert_eq!((told(&outcome), bytes), ("the response, 200".into(), BYTES));
    }
}

/// What any client that decodes must be told of it, whatever it allows.
fn damaged(attack: &str, bound: &str, codings: &'static str, packed: Vec<u8>) {
    let site = site(codings, packed);
    for client in clients(|builder| builder.decompress(true)) {
        ByItself::check(attack, bound, &told(&block_on(read(client, &site)).0));
    }
}

#[test]
fn codings_that_are_damaged() {
    let thrice = gzip(&gzip(&gzip(b"content")));
    damaged("content in three codings", "two codings", "gzip, gzip, gzip", thrice);
    let mut packed = gzip(b"content");
    packed.truncate(packed.len() - 1);
    damaged("gzip that is cut short", "–", "gzip", packed);
    let mut packed = zstd(b"content");
    packed.truncate(packed.len() - 1);
    damaged("zstd that is cut short", "–", "zstd", packed);
    damaged("bytes after zstd", "–", "zstd", [zstd(b"content"), b"garbage".to_vec()].concat());
    damaged("zstd with a window of 16 MiB", "8 MiB", "zstd", zstd_with_window(24));
    let site = site("zstd", zstd_with_window(23));
    for client in clients(|builder| builder.decompress(true)) {
        assert_eq!(block_on(read(client, &site)).1, 7, "8 MiB are allowed");
    }
}

#[test]
fn bytes_after_gzip() {
    let site = site("gzip", [gzip(b"content"), b"garbage".to_vec()].concat());
    for client in clients(|builder| builder.decompress(true)) {
        let (outcome, bytes) = block_on(read(client, &site));
        assert_eq!((outcome.is_ok(), bytes), (true, 7));
        ByItself::check("bytes after gzip", "–", "the content, without them");
    }
}

#[test]
fn content_without_end() {
    const BYTES: usize = 1 << 20;
    /// The content, which grows by doubling, and the buffers.
    const HELD_MAX: i64 = 4 * BYTES as i64;
    let site = Site::start(|_| Answer::new(200).without_end());
    let read = async |client: Client, max: usize| {
        let mut response = send(client.get(&site.url("/"))).await?;
        response.bytes_max(max).await.map(|_| response)
    };
    for client in clients(|builder| builder) {
        let (outcome, peak) = held(|| block_on(read(client, BYTES)));
        assert!(peak <= HELD_MAX, "{peak} bytes were held");
        ByItself::check("content without end", "`bytes_max(1 << 20)`", &told(&outcome));
    }
    for client in clients(|builder| builder) {
        let (outcome, peak) = held(|| block_on(read(client, 16 * BYTES)));
        let told = told(&outcome);
        assert!(peak > HELD_MAX, "only {peak} bytes were held, with sixteen times as many allowed: {told:?}");
    }
}
