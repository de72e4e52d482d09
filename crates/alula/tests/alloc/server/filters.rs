//! Answers that pass filters allocate nothing on the server once warm, over both versions.

use alula::routing::get;
use alula::{Client, Encoder, EntityTags, Error, Exchange, Filter, Outgoing, Router, Sent, Status};
use alula_tally::Side;

use crate::support::{DATE, on_a_thread, serve, windows};

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
    let path = exchange.request().path();
    let form = ROWS.iter().find(|(form, _)| *form == path).map_or("", |(form, _)| *form);
    if form == "/split" {
        let (_, _, responder) = exchange.split();
        return responder.respond(Status::OK).header("date", DATE).send("split").await;
    }
    let reply = exchange.respond(Status::OK).header("date", DATE);
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

fn router() -> Router {
    let encoded = || get(answer).filter(Uppercase).filter(Uppercase);
    Router::new()
        .route("/send", encoded())
        .route("/stream", encoded())
        .route("/parts", encoded())
        .route("/split", encoded())
        .route("/tag", get(answer).filter(EntityTags::new()))
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

pub(crate) fn filters_allocate_nothing_once_warm() {
    assert!(alula_tally::is_installed());
    let origin = serve(|server| server.serve(router().build().unwrap()));
    on_a_thread(Side::CLIENT, async {
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            for (path, condition) in ROWS {
                let url = format!("{origin}{path}");
                run(&client, &url, condition, WARM_UP).await;
                let ask = async |requests| run(&client, &url, condition, requests).await;
                let windows = windows(Side::SERVER, REQUESTS, ask).await;
                assert!(windows.are_met(), "{path} {condition}, HTTP/2: {http2}: {windows:?}");
            }
        }
    });
}
