//! Answers that pass filters allocate nothing on the server once warm, over both versions.

use std::{sync::mpsc, thread};

use alula::{
    Client, Encoder, EntityTags, Error, Exchange, Filter, Outgoing, Router, Sent, Server, Status,
    routing::get,
};
use alula_tally::Side;
use alula_testkit::Windows;
use tokio::runtime::{Builder, Runtime};

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 50;

/// The paths, and the conditions of the requests for them.
const ROWS: [(&str, &str); 6] =
    [("/send", ""), ("/stream", ""), ("/parts", ""), ("/split", ""), ("/tag", ""), ("/tag", "*")];

struct Uppercase;

impl Filter for Uppercase {
    fn begin(&self, _: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        // It has no size, so its box has no memory.
        Some(Box::new(Self))
    }
}

impl Encoder for Uppercase {
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(content.iter().map(u8::to_ascii_uppercase));
        Ok(())
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    // A date of every second would enter HPACK's table while that fills.
    const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    let path = exchange.request().path();
    let form = ROWS.iter().find(|(form, _)| *form == path).map_or("", |(form, _)| *form);
    if form == "/split" {
        let (_, _, responder) = exchange.split();
        return responder.respond(Status::OK).header(DATE.0, DATE.1).send("split").await;
    }
    let reply = exchange.respond(Status::OK).header(DATE.0, DATE.1);
    match form {
        "/stream" => {
            let mut writer = reply.stream().await?;
            for _ in 0..10 {
                writer.write([b'x'; 1_000]).await?;
            }
            writer.finish().await
        }
        "/parts" => reply.send_parts(&[b"one", &[b'x'; 1_000], b"three"]).await,
        _ => reply.send([b'x'; 1_000]).await,
    }
}

fn serve() -> String {
    let (tell, origin) = mpsc::channel();
    let encoded = || get(answer).filter(Uppercase).filter(Uppercase);
    let routes = Router::new()
        .route("/send", encoded())
        .route("/stream", encoded())
        .route("/parts", encoded())
        .route("/split", encoded())
        .route("/tag", get(answer).filter(EntityTags::new()));
    let routes = routes.build().unwrap();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        runtime().block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            server.serve(routes).await.unwrap();
        });
    });
    origin.recv().unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn run(client: &Client, url: &str, condition: &str, requests: usize) {
    for _ in 0..requests {
        let mut call = client.get(url);
        if !condition.is_empty() {
            call = call.header("if-none-match", condition);
        }
        let mut response = call.send().await.unwrap();
        assert_eq!(response.status(), if condition.is_empty() { 200 } else { 304 });
        response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
    }
}

/// The cost of so many requests on the server: the allocations of twice as many less those of as many.
fn cost(runtime: &Runtime, client: &Client, url: &str, condition: &str) -> i64 {
    let counted = || alula_tally::side(Side::SERVER).allocations as i64;
    let before = counted();
    runtime.block_on(run(client, url, condition, REQUESTS));
    let between = counted();
    runtime.block_on(run(client, url, condition, 2 * REQUESTS));
    (counted() - between) - (between - before)
}

pub(crate) fn filters_allocate_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    alula_tally::set_side(Side::CLIENT);
    let (origin, runtime) = (serve(), runtime());
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        for (path, condition) in ROWS {
            let url = format!("{origin}{path}");
            runtime.block_on(run(&client, &url, condition, WARM_UP));
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                windows.add(cost(&runtime, &client, &url, condition));
            }
            assert!(windows.are_met(), "{path} {condition}, HTTP/2: {http2}: {windows:?}");
        }
    }
}
