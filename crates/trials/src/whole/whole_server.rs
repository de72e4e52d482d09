//! Any bytes from a client to a whole server in memory: its loops, its limits and its handlers, on simulated
//! time.
//!
//! The connection has to end by itself, whatever its peer does or leaves undone; nothing may be held
//! afterwards, and no task may be woken without end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use alula_fields::{FieldSection, Status};
use alula_machine::Limits;
use alula_server::{
    ConnectionServer, Error, Exchange, FailureCause, PipeEnd, Sent, Server, TransportFacts, Wire, pipe,
};
use tokio::io::AsyncWriteExt as _;

use crate::h2::frames::conversation;
use crate::input::Input;

/// More polls of a connection than any input of a few thousand bytes gives reason for, each byte by itself.
const POLLS_MAX: usize = 200_000;

/// By then, in simulated time, each limit has ended what it is there for.
const ENDS_WITHIN: Duration = Duration::from_secs(900);

/// A client that does not read holds its end for so long.
const HOLDS_FOR: Duration = Duration::from_secs(1800);

/// What the client does once it has said everything.
#[derive(Clone, Copy)]
enum Then {
    Shuts,
    Leaves,
    FallsSilent,
}

/// Bytes as a version, a way to cut, habits of the client, limits, and what the client says.
pub fn whole_server(data: &[u8]) {
    let mut input = Input::new(data);
    let is_http2 = input.flag();
    let wire = wire(&mut input);
    let then = *input.pick(&[Then::Shuts, Then::Leaves, Then::FallsSilent]);
    let (reads, is_small) = (!input.flag(), input.flag());
    let bytes = if is_http2 { conversation(&mut input, true) } else { input.take(usize::MAX).to_vec() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let has_panicked = Arc::new(AtomicBool::new(false));
        let server = server(is_small, has_panicked.clone());
        let (near, far) = pipe(wire, Wire::new());
        let client = pin!(client(near, &bytes, then, reads));
        let served = pin!(serve(&server, far));
        // A connection that ends because its client does has not ended by itself.
        let both = async { tokio::join!(client, tokio::time::timeout(ENDS_WITHIN, served)) };
        both.await.1.expect("the connection ends");
        assert!(!has_panicked.load(Relaxed), "a panic");
        assert_eq!(server.ledger().memory_held(), 0);
    });
}

fn wire(input: &mut Input<'_>) -> Wire {
    let (kind, number) = (input.below(5), input.byte());
    match kind {
        0 => Wire::new(),
        1 => Wire::new().pieces_of(1),
        2 => Wire::new().random_pieces(number.into()),
        3 => Wire::new().reset_after(number.into()),
        _ => Wire::new().pieces_of(7).end_after(number.into()),
    }
}

fn server(is_small: bool, has_panicked: Arc<AtomicBool>) -> ConnectionServer {
    let small = Limits { head_bytes: 512, process_memory_bytes: 1 << 20, ..Limits::default() };
    let limits = if is_small { small } else { Limits::default() };
    let builder = Server::builder().limits(limits).extended_connect(true);
    let hear = move |failure: &alula_server::RequestFailure<'_>| {
        has_panicked.fetch_or(matches!(failure.cause(), FailureCause::Panic(_)), Relaxed);
    };
    builder.on_error(hear).build(answer)
}

/// Serves the connection, whose task is not woken without end.
async fn serve(server: &ConnectionServer, far: PipeEnd) {
    let (mut served, mut polls) = (pin!(server.serve_connection(far, TransportFacts::new())), 0);
    // That there came no request is no failure of the server.
    let _ = poll_fn(|cx| {
        polls += 1;
        assert!(polls < POLLS_MAX, "the connection is polled without end");
        served.as_mut().poll(cx)
    })
    .await;
}

async fn client(near: PipeEnd, bytes: &[u8], then: Then, reads: bool) {
    let (mut from, mut to) = tokio::io::split(near);
    if let Then::Leaves = then {
        let _ = to.write_all(bytes).await;
        return;
    }
    let says = async move {
        // The server may have had enough.
        let _ = to.write_all(bytes).await;
        if let Then::Shuts = then {
            let _ = to.shutdown().await;
        }
        to
    };
    let hears = async move {
        if reads {
            let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
        }
        from
    };
    let (to, from) = tokio::join!(says, hears);
    // A client that does not read holds its end for longer than any limit allows.
    tokio::time::sleep(HOLDS_FOR).await;
    drop((to, from));
}

/// Answers in the way that the path chooses.
async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let sum: usize = exchange.request().path().bytes().map(usize::from).sum();
    match sum % 6 {
        0 => exchange.respond(Status::OK).send("early").await,
        1 => {
            let mut bytes = 0;
            while let Some(chunk) = exchange.body().chunk().await? {
                bytes += chunk.len();
            }
            exchange.respond(Status::OK).send(bytes.to_string()).await
        }
        2 => stream(exchange).await,
        3 => Err(Error::other("a handler that fails")),
        4 => {
            drop(exchange);
            Err(Error::cancelled())
        }
        _ => echo(exchange).await,
    }
}

async fn stream(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    for _ in 0..20 {
        writer.write(&[b's'; 5000]).await?;
    }
    let mut trailers = FieldSection::new();
    trailers.append("x-end", "yes").map_err(Error::other)?;
    writer.finish_with(&trailers).await
}

async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}
