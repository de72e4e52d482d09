//! Answers in other forms than octets allocate nothing on the server once warm, over both versions.

use std::{sync::mpsc, thread};

use alula::{Client, Error, Event, Exchange, Sent, Server, Status};
use alula_tally::Side;
use alula_testkit::Windows;
use tokio::runtime::{Builder, Runtime};

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 50;
/// The events of one answer.
const EVENTS: usize = 10;

const FORMS: [(&str, &str); 7] = [
    ("/text", ""),
    ("/json", ""),
    ("/parts", ""),
    ("/redirect", ""),
    ("/events", ""),
    ("/conditional", "\"v1\""),
    ("/conditional", "\"v2\""),
];

#[derive(serde::Serialize)]
struct Item<'a> {
    name: &'a str,
    numbers: [u32; 4],
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let form = FORMS.iter().position(|(form, _)| *form == path);
    let begin = |status| {
        // A date of every second would enter HPACK's table while that fills.
        exchange.respond(status).header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
    };
    match form.map_or("", |form| FORMS[form].0) {
        "/text" => begin(Status::OK).text("hello").await,
        "/json" => begin(Status::OK).json(&Item { name: "a", numbers: [1, 2, 3, 4] }).await,
        "/parts" => begin(Status::OK).send_parts(&[b"one", &[b'x'; 1_000], b"three"]).await,
        "/redirect" => begin(Status::FOUND).redirect("/two words").await,
        "/events" => {
            let mut events = begin(Status::OK).events().await?;
            for _ in 0..EVENTS {
                events.wait(tokio::task::yield_now()).await?;
                events.event(Event::data("a\nb").name("tick").id("1")).await?;
            }
            events.finish().await
        }
        _ => begin(Status::OK).header("etag", "\"v1\"").send_conditional(b"0123456789").await,
    }
}

fn serve() -> String {
    let (tell, origin) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        runtime().block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            server.serve(answer).await.unwrap();
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
        assert!(response.status().as_u16() < 400);
        response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
    }
}

/// Returns the cost of so many requests for the server: the allocations of twice as many less those of as many.
fn cost(runtime: &Runtime, client: &Client, url: &str, condition: &str) -> i64 {
    let counted = || alula_tally::side(Side::SERVER).allocations as i64;
    let before = counted();
    runtime.block_on(run(client, url, condition, REQUESTS));
    let between = counted();
    runtime.block_on(run(client, url, condition, 2 * REQUESTS));
    (counted() - between) - (between - before)
}

pub(crate) fn answers_allocate_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    alula_tally::set_side(Side::CLIENT);
    let (origin, runtime) = (serve(), runtime());
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).redirects(0).build().unwrap();
        for (path, condition) in FORMS {
            let url = format!("{origin}{path}");
            runtime.block_on(run(&client, &url, condition, WARM_UP / if path == "/events" { 4 } else { 1 }));
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                windows.add(cost(&runtime, &client, &url, condition));
            }
            assert!(windows.are_met(), "{path} {condition}, HTTP/2: {http2}: {windows:?}");
        }
    }
}
