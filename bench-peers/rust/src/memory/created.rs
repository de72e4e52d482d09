//! A request with 8 fields made and written, without a socket.

use std::hint::black_box;

use alula_testkit::lists::CREATED;
use bytes::Bytes;
use h2::frame::Pseudo;
use http::{Method, StatusCode, Uri};
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::clients::request::{fields, get};
use crate::hpack::h2::{codec, write};
use crate::measure::{Run, one_thread};
use crate::memory::answering::Memory;

const URI: &str = "http://example.com/static/app";

fn uri() -> Uri {
    URI.parse().expect("a valid URI")
}

/// By h2's codec alone, which knows nothing of streams: so without an answer.
pub(crate) fn alone() -> Run {
    let (mut codec, uri, fields) = (codec(), uri(), fields(&CREATED));
    Box::new(move |count| {
        for _ in 0..count {
            let (parts, ()) = get(black_box(&uri), black_box(&fields), ()).into_parts();
            write(&mut codec, Pseudo::request(Method::GET, parts.uri, None), parts.headers);
        }
    })
}

/// By h2's client, with its answer 204.
pub(crate) fn h2() -> Run {
    let (runtime, uri, fields) = (one_thread(), uri(), fields(&CREATED));
    let mut sender = runtime.block_on(async {
        let (sender, connection) = h2::client::handshake(Memory::default()).await.expect("a connection");
        tokio::spawn(connection);
        sender
    });
    Box::new(move |count| {
        runtime.block_on(async {
            for _ in 0..count {
                sender = sender.clone().ready().await.expect("an open connection");
                let request = get(black_box(&uri), black_box(&fields), ());
                let (answer, _) = sender.send_request(request, true).expect("a valid request");
                assert_eq!(answer.await.expect("an answer").status(), StatusCode::NO_CONTENT);
            }
        });
    })
}

/// By hyper's client, with its answer 204.
pub(crate) fn hyper() -> Run {
    let (runtime, uri, fields) = (one_thread(), uri(), fields(&CREATED));
    let mut sender = runtime.block_on(async {
        let io = TokioIo::new(Memory::default());
        let shaken = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await;
        let (sender, connection) = shaken.expect("a connection");
        tokio::spawn(connection);
        sender
    });
    Box::new(move |count| {
        runtime.block_on(async {
            for _ in 0..count {
                let request = get(black_box(&uri), black_box(&fields), Empty::<Bytes>::new());
                let answer = sender.send_request(request).await.expect("an answer");
                assert_eq!(answer.status(), StatusCode::NO_CONTENT);
            }
        });
    })
}
