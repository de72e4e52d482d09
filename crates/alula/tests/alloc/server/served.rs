//! A request costs a server no allocation once warm, in whatever manner it is routed, read and answered: over
//! both versions, on a runtime of one thread and on one of two.
//!
//! The client has a thread of its own. A run of N requests is repeated with 2N; what the second made more on
//! all threads of the server is what N requests cost.

use std::{sync::mpsc, thread};

use alula::routing::{get, post};
use alula::{Answer, Begun, Client, Ended, Event, Exchange, Hook, Next, Router, Sent, Server, Status};
use alula_tally::Side;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use crate::support::{DATE, on_a_thread, windows};

const WARM_UP: usize = 500;
const REQUESTS: usize = 40;
/// The chunks, and the events, of one answer.
const PIECES: usize = 10;
const UPLOAD: &[u8] = &[b'u'; 100 * 1024];

/// A kind of request, and what it is about.
const PATHS: [(&str, &str); 9] = [
    ("/1/a", "1 capture"),
    ("/5/a/b/c/d/e", "5 captures"),
    ("/8/a/b/c/d/e/f/g/h", "8 captures"),
    ("/wrapped/a", "three wraps"),
    ("/parts", "an answer of parts"),
    ("/chunks", "an answer of chunks"),
    ("/upload", "an upload"),
    ("/events", "an event stream"),
    ("/split", "an exchange that is split"),
];

/// Sees every request, as a log does.
struct Watching;

impl Hook for Watching {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        assert!(begun.request().path().starts_with('/'));
        None
    }

    fn end(&self, ended: &Ended<'_>) {
        assert!(ended.route().is_some());
    }
}

async fn captures(exchange: Exchange) -> Result<Sent, Answer> {
    assert_eq!(exchange.param("a")?, "a");
    Ok(exchange.respond(Status::OK).header("date", DATE).send("a").await?)
}

async fn passes(exchange: Exchange, next: Next) -> Result<Sent, Answer> {
    next.run(exchange).await
}

async fn parts(exchange: Exchange) -> Result<Sent, Answer> {
    Ok(exchange
        .respond(Status::OK)
        .header("date", DATE)
        .send_parts(&[b"one", &[b'x'; 1_000], b"three"])
        .await?)
}

async fn chunks(exchange: Exchange) -> Result<Sent, Answer> {
    let mut writer = exchange.respond(Status::OK).header("date", DATE).stream().await?;
    for _ in 0..PIECES {
        // Each goes in a turn of its own.
        yield_now().await;
        writer.write("one of several chunks").await?;
    }
    Ok(writer.finish().await?)
}

async fn upload(mut exchange: Exchange) -> Result<Sent, Answer> {
    let mut bytes = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        bytes += chunk.len();
    }
    assert_eq!(bytes, UPLOAD.len());
    Ok(exchange.respond(Status::OK).header("date", DATE).send("a").await?)
}

async fn events(exchange: Exchange) -> Result<Sent, Answer> {
    let mut events = exchange.respond(Status::OK).header("date", DATE).events().await?;
    for _ in 0..PIECES {
        events.wait(yield_now()).await?;
        events.event(Event::data("a\nb").name("tick").id("1")).await?;
    }
    Ok(events.finish().await?)
}

async fn split(exchange: Exchange) -> Result<Sent, Answer> {
    let (_, mut body, responder) = exchange.split();
    while body.chunk().await?.is_some() {}
    Ok(responder.respond(Status::OK).header("date", DATE).send("a").await?)
}

fn router() -> Router {
    Router::new()
        .hook(Watching)
        .route("/1/{a}", get(captures))
        .route("/5/{a}/{b}/{c}/{d}/{e}", get(captures))
        .route("/8/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}", get(captures))
        .route("/wrapped/{a}", get(captures).wrap(passes).wrap(passes).wrap(passes))
        .route("/parts", get(parts))
        .route("/chunks", get(chunks))
        .route("/upload", post(upload))
        .route("/events", get(events))
        .route("/split", get(split))
}

/// Starts a server on a runtime of so many threads, and returns where it is.
fn serve(threads: usize) -> String {
    let (tell, origin) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        server_runtime(threads).block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            server.serve(router().build().unwrap()).await.unwrap();
        });
    });
    origin.recv().unwrap()
}

fn server_runtime(threads: usize) -> Runtime {
    let mut builder = match threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(threads).on_thread_start(|| _ = alula_tally::set_side(Side::SERVER));
    builder.enable_all().build().unwrap()
}

async fn run(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let answer = match url.ends_with("/upload") {
            true => client.post(url).send_body(UPLOAD).await,
            false => client.get(url).send().await,
        };
        let mut response = answer.unwrap();
        assert_eq!(response.status(), Status::OK);
        response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
    }
}

pub(crate) fn served_requests_allocate_nothing() {
    assert!(alula_tally::is_installed());
    on_a_thread(Side::CLIENT, async {
        for (threads, http2) in [(1, false), (1, true), (2, false), (2, true)] {
            let origin = serve(threads);
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            for (path, about) in PATHS {
                let url = format!("{origin}{path}");
                run(&client, &url, WARM_UP).await;
                let ask = async |requests| run(&client, &url, requests).await;
                let windows = windows(Side::SERVER, REQUESTS, ask).await;
                assert!(windows.are_met(), "{threads} threads, HTTP/2 {http2}, {about}: {windows:?}");
            }
        }
    });
}
