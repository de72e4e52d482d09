//! HPACK by way of h2's codec, which has no other door: HEADERS frames written to nowhere, and read.

use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use alula_testkit::lists::Pair;
use bytes::Bytes;
use futures_core::Stream;
use h2::frame::{Frame, Headers, Pseudo, StreamId};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::hpack::lists::{Blocks, Case};
use crate::measure::Run;

pub(crate) type Codec = h2::Codec<Wire, Bytes>;

/// Reads as the blocks come, each in a frame of its own, and swallows what is written.
#[derive(Default)]
pub(crate) struct Wire {
    blocks: Option<Blocks>,
    /// Of the last frame, what the reader had no room for.
    rest: Vec<u8>,
}

pub(crate) fn codec() -> Codec {
    h2::Codec::new(Wire::default())
}

/// As hyper has a request: pseudo-fields, and a map that is cloned for each.
pub(crate) fn encode(case: &str) -> Run {
    let case = Case::of(case);
    let requests: Vec<(Uri, HeaderMap)> = case.lists.iter().map(|list| request(list)).collect();
    let (mut codec, mut number) = (codec(), 0);
    Box::new(move |blocks| {
        for _ in 0..blocks {
            if number % case.renew == 0 {
                codec = self::codec();
            }
            let (uri, fields) = black_box(&requests[number & (requests.len() - 1)]);
            write(&mut codec, Pseudo::request(Method::GET, uri.clone(), None), fields.clone());
            number += 1;
        }
    })
}

/// Writes one HEADERS frame.
pub(crate) fn write(codec: &mut Codec, pseudo: Pseudo, fields: HeaderMap) {
    let mut context = Context::from_waker(Waker::noop());
    let mut headers = Headers::new(StreamId::from(1), pseudo, fields);
    headers.set_end_stream();
    assert!(codec.poll_ready(&mut context).is_ready());
    codec.buffer(Frame::Headers(headers)).expect("a valid frame");
    assert!(codec.flush(&mut context).is_ready());
}

fn request(list: &[Pair]) -> (Uri, HeaderMap) {
    let [_, scheme, authority, path] = [0, 1, 2, 3].map(|place| list[place].1);
    let uri = format!("{scheme}://{authority}{path}").parse().expect("a valid URI");
    let field = |(name, value): &Pair| (HeaderName::from_static(name), HeaderValue::from_static(value));
    (uri, list[4..].iter().map(field).collect())
}

pub(crate) fn decode(lists: &str, case: &str) -> Run {
    let mut codec: Codec = h2::Codec::new(Wire {
        blocks: Some(Blocks::load(lists, case).map(framed)),
        rest: Vec::with_capacity(1024),
    });
    Box::new(move |blocks| {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..blocks {
            match Pin::new(&mut codec).poll_next(&mut context) {
                Poll::Ready(Some(Ok(Frame::Headers(headers)))) => drop(black_box(headers)),
                other => panic!("{other:?}"),
            }
        }
    })
}

/// HEADERS with END_STREAM and END_HEADERS on stream 1.
fn framed(block: &[u8]) -> Vec<u8> {
    let length = u32::try_from(block.len()).expect("a short block").to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend_from_slice(&[1, 5, 0, 0, 0, 1]);
    frame.extend_from_slice(block);
    frame
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { blocks, rest } = &mut *self;
        if rest.is_empty() {
            rest.extend_from_slice(blocks.as_mut().expect("there are blocks to read").next());
        }
        let length = buf.remaining().min(rest.len());
        buf.put_slice(&rest[..length]);
        rest.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(black_box(buf).len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
