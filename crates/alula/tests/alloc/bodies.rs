//! The allocations of content that is gathered and kept, beyond the nothing that reading it by chunks costs.

use alula::{Bytes, Client, Content, Exchange, Multipart, Part, Sent, Status};
use alula_tally::Side;
use http_body_util::BodyExt as _;

use crate::support::{least, on_a_thread, serve};

const REQUESTS: usize = 300;

static CONTENT: &[u8] = &[b'7'; 1024];
/// Now and then a buffer of the connection grows, or a list of parts.
const ALLOWANCE: u64 = 4;

static LONG: [u8; 1 << 20] = [b'l'; 1 << 20];

pub(crate) fn gathered_and_kept_content_costs_what_is_said_and_no_more() {
    assert!(alula_tally::is_installed());
    let origin = serve(|server| server.serve(answer));
    let url = |path| format!("{origin}/{path}");
    for http2 in [true, false] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        let (short, gather, long, json) = (url("short"), url("gather"), url("long"), url("json"));
        let get = async |url: &str| client.get(url).send().await.unwrap();
        on_a_thread(Side::CLIENT, async {
            let costs = [
                // The bytes, in one allocation of their length.
                least(REQUESTS, async || assert_eq!(get(&short).await.bytes().await.unwrap(), CONTENT)).await,
                least(REQUESTS, async || assert_eq!(get(&short).await.text().await.unwrap().len(), 1024))
                    .await,
                least(REQUESTS, async || assert_eq!(get(&json).await.json::<u32>().await.unwrap(), 77)).await,
                // A frame of `http_body`: the same.
                least(REQUESTS, async || {
                    let mut response = get(&short).await;
                    assert_eq!(response.body().frame().await.unwrap().unwrap().into_data().unwrap(), CONTENT);
                })
                .await,
                // A body of its own, and none of it kept.
                least(REQUESTS, async || {
                    let mut body = get(&short).await.into_body();
                    assert_eq!(body.chunk().await.unwrap().unwrap(), CONTENT);
                    assert!(body.chunk().await.unwrap().is_none());
                })
                .await,
                // The same on the server.
                least(REQUESTS, async || {
                    let mut response = client.post(&gather).send_body(CONTENT).await.unwrap();
                    assert_eq!(response.body().copy_to(&mut tokio::io::sink()).await.unwrap(), 1024);
                })
                .await,
            ];
            assert_eq!(costs, [[1, 0], [1, 0], [1, 0], [1, 0], [0, 0], [0, 1]], "http2 {http2}");
            long_pieces(&client, &long, if http2 { 4 } else { 2 }).await;
            content_is_held_once(&client, &url("read")).await;
        });
    }
}

/// Long pieces cost an allocation each for what holds the buffer, and those of the connection that has to
/// replace it: the buffer, and over HTTP/2 also a list of parts and room for the beginning of a frame.
async fn long_pieces(client: &Client, url: &str, each: u64) {
    let mut worst = 0;
    for warm in [false, true, true, true] {
        let mut response = client.get(url).send().await.unwrap();
        let before = alula_tally::side(Side::CLIENT).allocations;
        let (mut pieces, mut bytes) = (0, 0);
        while let Some(frame) = response.body().frame().await {
            bytes += frame.unwrap().into_data().unwrap().len();
            pieces += 1;
        }
        let allocations = alula_tally::side(Side::CLIENT).allocations - before;
        println!("{pieces} pieces of {bytes} bytes: {allocations} allocations");
        assert_eq!(bytes, LONG.len());
        if warm {
            worst = worst.max(allocations.saturating_sub(each * pieces));
        }
    }
    assert!(worst <= ALLOWANCE, "{worst} allocations more than {each} for each piece");
}

/// Content that is given as a whole stays where it is, also in a form and when it is kept to be sent again.
async fn content_is_held_once(client: &Client, url: &str) {
    type Make = Box<dyn FnOnce() -> Content>;
    let whole = || vec![b'w'; LONG.len()];
    let (list, part, text) = (whole(), whole(), String::from_utf8(whole()).unwrap());
    let shared = [Bytes::from(whole()), Bytes::from(whole())];
    let [kept, of_part] = shared.clone();
    let form = |part| Content::multipart(Multipart::new().part("a", part));
    let all: [(&str, Make); 5] = [
        ("a list", Box::new(move || Content::bytes(list))),
        ("text", Box::new(move || Content::text(text))),
        ("shared bytes", Box::new(move || Content::shared(kept))),
        ("a form", Box::new(move || form(Part::bytes(part)))),
        ("a form of shared bytes", Box::new(move || form(Part::shared(of_part)))),
    ];
    for (name, make) in all {
        let before = alula_tally::side(Side::CLIENT).bytes;
        let response = client.post(url).content(make()).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        let bytes = alula_tally::side(Side::CLIENT).bytes - before;
        println!("{name} of {} bytes: {bytes} bytes are allocated", LONG.len());
        assert!(bytes < LONG.len() as u64, "{name}: {bytes}");
    }
    drop(shared);
}

async fn answer(mut exchange: Exchange) -> Result<Sent, alula::Error> {
    match exchange.request().path() {
        "/gather" => {
            let content = exchange.body().bytes().await?;
            exchange.respond(Status::OK).send(&content).await
        }
        "/read" => {
            while exchange.body().chunk().await?.is_some() {}
            exchange.respond(Status::OK).send(b"").await
        }
        "/long" => exchange.respond(Status::OK).send(&LONG).await,
        "/json" => exchange.respond(Status::OK).send("77").await,
        _ => exchange.respond(Status::OK).send(CONTENT).await,
    }
}
