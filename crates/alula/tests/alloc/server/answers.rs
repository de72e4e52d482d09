//! Answers in other forms than bytes allocate nothing on the server once warm, over both versions.

use alula::{Client, Error, Event, Exchange, Sent, Status};
use alula_tally::Side;

use crate::support::{DATE, on_a_thread, serve, windows};

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
    let begin = |status| exchange.respond(status).header("date", DATE);
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

pub(crate) fn answers_allocate_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    let origin = serve(|server| server.serve(answer));
    on_a_thread(Side::CLIENT, async {
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).redirects(0).build().unwrap();
            for (path, condition) in FORMS {
                let url = format!("{origin}{path}");
                run(&client, &url, condition, WARM_UP / if path == "/events" { 4 } else { 1 }).await;
                let ask = async |requests| run(&client, &url, condition, requests).await;
                let windows = windows(Side::SERVER, REQUESTS, ask).await;
                assert!(windows.are_met(), "{path} {condition}, HTTP/2: {http2}: {windows:?}");
            }
        }
    });
}
