//! Content gathered up to a limit, on clients and servers, and content in pieces that are kept: what is
//! copied, what is charged and for how long, and what becomes of trailers and of content that is cut.

use std::{future::poll_fn, pin::Pin, task::Poll};

use alula::{Body, Bytes, Cause, Client, Error, Exchange, FieldSection, Sent, Server, Status};
use futures_core::Stream as _;
use http_body::Body as _;
use http_body_util::BodyExt as _;

use crate::support::{client, listen, serve, within};

/// A long content: several buffers of a connection.
const LONG: usize = 1 << 20;

/// The content that a path such as `/stated/100` or `/streamed/100` names.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    let mut parts = path[1..].split('/');
    let kind = parts.next().unwrap_or_default();
    let bytes = parts.next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    match kind {
        "stated" => exchange.respond(Status::OK).send(content(bytes)).await,
        "streamed" => {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(&content(bytes)).await?;
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "7")?;
            writer.finish_with(&trailers).await
        }
        // The content is cut: the stream is reset, or the connection closed.
        "cut" => {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(&content(bytes)).await?;
            Err(Error::usage("no more"))
        }
        // The content of the request is gathered, by the limit of the server or the one that is named.
        "gather" => {
            let gathered = match bytes {
                0 => exchange.body().bytes().await,
                _ => exchange.body().bytes_max(bytes).await,
            };
            told(exchange, gathered).await
        }
        "set" => {
            exchange.body().set_content_max(bytes);
            let gathered = exchange.body().bytes().await;
            told(exchange, gathered).await
        }
        "text" => {
            let text = exchange.body().text().await.map(Bytes::from);
            told(exchange, text).await
        }
        _ => {
            let sum: Result<Vec<u32>, Error> = exchange.body().json().await;
            told(exchange, sum.map(|sum| Bytes::from(sum.iter().sum::<u32>().to_string()))).await
        }
    }
}

/// Answers with what was gathered, or with 413 or 400 and the sentence.
async fn told(exchange: Exchange, gathered: Result<Bytes, Error>) -> Result<Sent, Error> {
    match gathered {
        Ok(content) => exchange.respond(Status::OK).send(&content).await,
        Err(error) => {
            let is_long = matches!(error.cause(), Cause::TooLong(_));
            let status = if is_long { Status::CONTENT_TOO_LARGE } else { Status::BAD_REQUEST };
            exchange.respond(status).send(error.to_string()).await
        }
    }
}

async fn start(content_max: usize) -> (String, [Client; 2]) {
    let origin = format!("http://{}", listen(Server::builder().content_max(content_max), answer).await);
    let client = |http2| Client::builder().http2_prior_knowledge(http2).content_max(content_max);
    (origin, [false, true].map(|http2| client(http2).build().unwrap()))
}

async fn get(client: &Client, url: &str) -> alula::Response {
    within(client.get(url).send()).await.unwrap()
}

fn is_too_long<T>(gathered: Result<T, Error>, bytes_max: usize) -> bool {
    let Err(error) = gathered else { return false };
    let sentence = error.to_string();
    assert!(sentence.contains("content_max") && sentence.contains("bytes_max"), "{sentence}");
    matches!(error.cause(), Cause::TooLong(most) if *most == bytes_max as u64)
}

#[tokio::test]
async fn a_client_gathers_up_to_its_limit() {
    let (origin, clients) = start(20_000).await;
    for client in &clients {
        for kind in ["stated", "streamed"] {
            for bytes in [0, 1, 100, 5000, 20_000] {
                let url = format!("{origin}/{kind}/{bytes}");
                assert_eq!(within(get(client, &url).await.bytes()).await.unwrap(), content(bytes), "{url}");
            }
            let long = format!("{origin}/{kind}/20001");
            assert!(is_too_long(within(get(client, &long).await.bytes()).await, 20_000), "{long}");
            assert!(is_too_long(within(get(client, &long).await.text()).await, 20_000), "{long}");
            assert!(is_too_long(within(get(client, &long).await.json::<u8>()).await, 20_000), "{long}");
            assert_eq!(within(get(client, &long).await.bytes_max(20_001)).await.unwrap(), content(20_001));
            assert!(is_too_long(within(get(client, &long).await.bytes_max(20_000)).await, 20_000), "{long}");
            let mut response = get(client, &long).await;
            response.body().set_content_max(20_001);
            assert_eq!(
                (response.body().content_max(), within(response.bytes()).await.unwrap().len()),
                (20_001, 20_001)
            );
        }
        // What is read piece by piece is not bounded, and what was read in part is not counted.
        let mut response = get(client, &format!("{origin}/stated/{LONG}")).await;
        let bytes = within(response.body().copy_to(&mut tokio::io::sink())).await.unwrap();
        assert_eq!(bytes, LONG as u64);
        let mut response = get(client, &format!("{origin}/stated/20010")).await;
        let mut first = [0; 10];
        assert_eq!(within(response.body().read(&mut first)).await.unwrap(), 10);
        assert_eq!(within(response.bytes()).await.unwrap(), content(20_010)[10..]);
    }
}

#[tokio::test]
async fn a_length_that_is_too_long_fails_before_anything_is_read() {
    let (origin, clients) = start(1000).await;
    for client in &clients {
        let mut response = get(client, &format!("{origin}/stated/5000")).await;
        let mut gathering = Box::pin(response.bytes());
        let first = poll_fn(|cx| Poll::Ready(gathering.as_mut().poll(cx))).await;
        let Poll::Ready(gathered) = first else { panic!("it waits for content") };
        assert!(is_too_long(gathered, 1000));
        drop(gathering);
        // Nothing was lost by it.
        assert_eq!(within(response.bytes_max(5000)).await.unwrap(), content(5000));
        let head = within(client.head(format!("{origin}/stated/5000")).send()).await.unwrap().bytes().await;
        assert_eq!(head.unwrap(), "", "a response to HEAD has none, whatever it states");
    }
}

#[tokio::test]
async fn a_server_gathers_up_to_its_limit() {
    let (origin, clients) = start(20_000).await;
    for client in &clients {
        for (path, bytes, status) in [
            ("gather", 20_000, Status::OK),
            ("gather", 20_001, Status::CONTENT_TOO_LARGE),
            ("gather/30000", 30_000, Status::OK),
            ("gather/100", 101, Status::CONTENT_TOO_LARGE),
            ("set/300", 300, Status::OK),
            ("set/300", 301, Status::CONTENT_TOO_LARGE),
        ] {
            let url = format!("{origin}/{path}");
            let sent = content(bytes);
            let mut stated = within(client.post(&url).send_body(&sent)).await.unwrap();
            assert_eq!(stated.status(), status, "{path} with {bytes} stated");
            let (mut writer, pending) = within(client.post(&url).open()).await.unwrap();
            // The server may not wait for the last of it.
            let _ = within(writer.write(&sent)).await;
            let _ = within(writer.finish()).await;
            let mut unstated = within(pending.response()).await.unwrap();
            assert_eq!(unstated.status(), status, "{path} with {bytes} unstated");
            for response in [&mut stated, &mut unstated] {
                let told = within(response.bytes_max(LONG)).await.unwrap();
                assert!(status != Status::OK || told == sent, "{path} with {bytes}");
            }
        }
        let mut ours = within(client.post(format!("{origin}/text")).send_body("\u{feff}grün")).await.unwrap();
        assert_eq!(ours.text().await.unwrap(), "grün");
        let mut odd = within(client.post(format!("{origin}/text")).send_body(b"\xe4")).await.unwrap();
        assert!(odd.status() == 400 && odd.text().await.unwrap().contains("UTF-8"));
        let mut sum = within(client.post(format!("{origin}/json")).send_body("[1,2,4]")).await.unwrap();
        assert_eq!(sum.text().await.unwrap(), "7");
        let mut odd = within(client.post(format!("{origin}/json")).send_body("[1,")).await.unwrap();
        assert!(odd.status() == 400 && odd.text().await.unwrap().contains("line 1"));
    }
}

#[tokio::test]
async fn pieces_are_the_content_and_trailers_are_the_last_frame() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        for bytes in [0, 1, 4095, 4096, 5000, 70_000, LONG] {
            let mut response = get(client, &format!("{origin}/streamed/{bytes}")).await;
            let body = response.body();
            assert!(!body.is_end_stream());
            let (mut read, mut sum) = (Vec::new(), None);
            while let Some(frame) = within(body.frame()).await {
                match frame.unwrap().into_data() {
                    Ok(data) => read.extend_from_slice(&data),
                    Err(frame) => sum = frame.into_trailers().unwrap().remove("x-sum"),
                }
            }
            assert!(read == content(bytes), "{bytes}");
            assert_eq!(sum.unwrap(), "7");
            assert!(body.is_end_stream() && within(body.frame()).await.is_none());
            assert_eq!(body.size_hint().exact(), Some(0));
        }
    }
}

#[tokio::test]
async fn the_size_that_is_left_is_known_where_it_is_stated() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        let mut body = get(client, &format!("{origin}/stated/100000")).await.into_body();
        let mut left = 100_000;
        while left > 0 {
            assert_eq!(body.size_hint().exact(), Some(left));
            assert!(!body.is_end_stream());
            left -= within(body.frame()).await.unwrap().unwrap().into_data().unwrap().len() as u64;
        }
        assert!(within(body.frame()).await.is_none() && body.is_end_stream());
    }
}

#[tokio::test]
async fn an_error_ends_the_pieces() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        let mut response = get(client, &format!("{origin}/cut/10000")).await;
        let (mut bytes, mut failed) = (0, 0);
        while let Some(frame) = within(response.body().frame()).await {
            match frame {
                Ok(frame) => bytes += frame.into_data().unwrap().len(),
                Err(_) => failed += 1,
            }
        }
        assert!(bytes <= 10_000 && failed == 1, "{bytes} bytes, {failed} errors");
        assert!(within(get(client, &format!("{origin}/cut/10000")).await.bytes_max(LONG)).await.is_err());
    }
}

#[tokio::test]
async fn kept_pieces_are_charged_until_they_are_dropped_and_hold_little_more() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        let before = client.ledger().memory_held();
        let mut response = get(client, &format!("{origin}/stated/{LONG}")).await;
        let mut kept: Vec<Bytes> = Vec::new();
        while let Some(frame) = within(response.body().frame()).await {
            kept.push(frame.unwrap().into_data().unwrap());
        }
        drop(response);
        assert!(kept.concat() == content(LONG));
        let (held, long) = (client.ledger().memory_held() - before, LONG as u64);
        // Beside the pieces there are the connection and its buffers.
        assert!((long - 64 * 1024..=2 * long + 512 * 1024).contains(&held), "{held}");
        // The windows were given back although every piece is kept: another content as long comes.
        let again = within(get(client, &format!("{origin}/stated/{LONG}")).await.bytes_max(LONG)).await;
        assert_eq!(again.unwrap().len(), LONG);
        let slice = kept.iter().find(|piece| piece.len() >= 4096).unwrap().slice(..1);
        let holding = client.ledger().memory_held();
        kept.clear();
        let left = client.ledger().memory_held();
        assert!(holding - left >= long / 2 && left > 0, "{holding}, then {left}");
        drop(slice);
        assert!(client.ledger().memory_held() < left, "a slice keeps its whole piece charged");
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_midway_leaves_its_pieces_and_the_connection_well() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        let mut response = get(client, &format!("{origin}/stated/{LONG}")).await;
        let piece = within(response.body().frame()).await.unwrap().unwrap().into_data().unwrap();
        drop(response);
        for _ in 0..20 {
            let mut response = get(client, &format!("{origin}/stated/{LONG}")).await;
            assert!(within(response.body().frame()).await.unwrap().is_ok());
        }
        let whole = within(get(client, &format!("{origin}/stated/{LONG}")).await.bytes_max(LONG)).await;
        assert_eq!(whole.unwrap().len(), LONG);
        assert_eq!(piece, content(LONG)[..piece.len()]);
    }
}

#[tokio::test]
async fn a_stream_of_pieces_ends_with_the_content_or_an_error() {
    let (origin, clients) = start(0).await;
    for client in &clients {
        for (path, expected) in
            [(format!("streamed/{LONG}"), LONG), ("stated/10".into(), 10), ("cut/10000".into(), 0)]
        {
            let mut pieces = get(client, &format!("{origin}/{path}")).await.bytes_stream();
            let (mut bytes, mut failed) = (0, 0);
            while let Some(piece) = within(poll_fn(|cx| Pin::new(&mut pieces).poll_next(cx))).await {
                piece.map_or_else(|_| failed += 1, |piece| bytes += piece.len());
            }
            match expected {
                0 => assert!(bytes <= 10_000 && failed == 1 && pieces.into_body().is_none(), "{path}"),
                _ => {
                    assert_eq!((bytes, failed), (expected, 0), "{path}");
                    let mut body = pieces.into_body().unwrap();
                    assert_eq!(body.trailers().await.unwrap().is_some(), path.starts_with("streamed"));
                }
            }
        }
    }
    let empty = Body::default();
    assert!(empty.is_ended() && empty.is_end_stream() && empty.size_hint().exact() == Some(0));
}

/// Every way to read the rest of a content at once.
#[derive(Clone, Copy, Debug)]
enum Whole {
    Bytes,
    Text,
    Json,
    CopyTo,
}

impl Whole {
    const ALL: [Self; 4] = [Self::Bytes, Self::Text, Self::Json, Self::CopyTo];

    async fn of_body(self, body: &mut Body) -> Result<(), Error> {
        match self {
            Self::Bytes => body.bytes().await.map(drop),
            Self::Text => body.text().await.map(drop),
            Self::Json => body.json::<Vec<u32>>().await.map(drop),
            Self::CopyTo => body.copy_to(&mut tokio::io::sink()).await.map(drop),
        }
    }

    async fn of_response(self, response: &mut alula::Response) -> Result<(), Error> {
        match self {
            Self::Bytes => response.bytes().await.map(drop),
            Self::Text => response.text().await.map(drop),
            Self::Json => response.json::<Vec<u32>>().await.map(drop),
            Self::CopyTo => response.body().copy_to(&mut tokio::io::sink()).await.map(drop),
        }
    }
}

/// A second `text()` gave empty content, as if the peer had sent none.
#[tokio::test]
async fn content_that_was_taken_is_not_taken_again() {
    let origin = serve(async |mut exchange: Exchange| {
        let mut told = Vec::new();
        if exchange.request().method() == "POST" {
            for first in Whole::ALL {
                let outcome = first.of_body(exchange.body()).await;
                let words = outcome.map_or_else(|error| error.to_string(), |()| "read".to_owned());
                told.extend_from_slice(format!("{words}\n").as_bytes());
            }
            return exchange.respond(Status::OK).send(told).await;
        }
        exchange.respond(Status::OK).send("[1, 2]").await
    })
    .await;
    for http2 in [false, true] {
        let client = client(http2);
        for first in Whole::ALL {
            for second in Whole::ALL {
                let mut response = client.get(&origin).send().await.unwrap();
                first.of_response(&mut response).await.unwrap();
                let error = second.of_response(&mut response).await;
                let error = error.expect_err(&format!("{second:?} after {first:?}"));
                assert!(matches!(error.cause(), Cause::Usage(_)), "{error:?}");
                assert!(error.to_string().contains("was taken already"), "{error}");
                assert!(response.chunk().await.unwrap().is_none(), "piece by piece, it is at its end");
                assert!(response.trailers().await.unwrap().is_none());
            }
        }
        let mut response = client.post(&origin).body("[1, 2]").send().await.unwrap();
        let told = response.text().await.unwrap();
        assert_eq!(told.matches("read\n").count(), 1, "{told}");
        assert_eq!(told.matches("was taken already").count(), 3, "{told}");
    }
}

/// Content of which a part was lost, since it was too long or nobody waited on, was gone on with as if it
/// were all.
#[tokio::test]
async fn what_is_left_of_content_that_was_lost_in_part_is_not_taken_for_all() {
    let (origin, clients) = start(100).await;
    for client in clients {
        let mut response = client.get(format!("{origin}/streamed/{LONG}")).send().await.unwrap();
        let error = response.bytes_max(10).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::TooLong(10)), "{error}");
        let error = response.bytes().await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Usage(_)), "{error}");
        // Nothing was taken of content that says that it is too long, nor by those who read a part of it
        // piece by piece.
        let mut response = client.get(format!("{origin}/stated/1000")).send().await.unwrap();
        response.bytes_max(10).await.unwrap_err();
        assert_eq!(response.body().read(&mut [0; 4]).await.unwrap(), 4);
        assert_eq!(response.bytes_max(2000).await.unwrap(), content(1000)[4..]);
    }
}

/// A page of another site can post a form without asking first (a safelisted `content-type` of the Fetch
/// standard), and its content may be JSON.
#[cfg(feature = "json")]
#[tokio::test]
async fn json_of_a_request_is_of_a_type_of_json() {
    async fn sums(mut exchange: Exchange) -> Result<Sent, Error> {
        let numbers: Vec<u32> = match exchange.request().path() {
            "/most" => exchange.json_max(8).await?,
            _ => exchange.json().await?,
        };
        exchange.respond(Status::OK).send(numbers.iter().sum::<u32>().to_string()).await
    }
    let origin = serve(sums).await;
    for http2 in [false, true] {
        let client = client(http2);
        for (path, types, content, status) in [
            ("/", &["application/json"][..], "[1,2,39]", 200),
            ("/", &["Application/JSON ; charset=utf-8"], "[1,2,39]", 200),
            ("/", &["application/vnd.api+json;v=1"], "[1,2,39]", 200),
            ("/", &["application/problem+JSON"], "[1,2,39]", 200),
            ("/most", &["application/json"], "[1,2,39]", 200),
            ("/most", &["application/json"], "[1,2,39] ", 413),
            ("/", &["application/json"], "[1,2", 400),
            ("/", &[], "[1,2,39]", 415),
            ("/", &["text/plain"], "[1,2,39]", 415),
            ("/", &["text/plain; application/json"], "[1,2,39]", 415),
            ("/", &["application/x-www-form-urlencoded"], "[1,2,39]", 415),
            ("/", &["multipart/form-data; boundary=application/json"], "[1,2,39]", 415),
            ("/", &["application/jsonp"], "[1,2,39]", 415),
            ("/", &["application/json-seq"], "[1,2,39]", 415),
            ("/", &["application/+json2"], "[1,2,39]", 415),
            ("/", &["text/x+json"], "[1,2,39]", 415),
            ("/", &["application/json, text/plain"], "[1,2,39]", 415),
            ("/", &["application/json", "text/plain"], "[1,2,39]", 415),
            ("/", &["text/plain", "application/json"], "[1,2,39]", 415),
            ("/most", &["text/plain"], "[1,2,39]", 415),
        ] {
            let call = types
                .iter()
                .fold(client.post(format!("{origin}{path}")), |call, it| call.header("content-type", it));
            let mut response = call.send_body(content).await.unwrap();
            let accept = response.headers().text("accept").map(str::to_owned);
            let text = response.text().await.unwrap();
            assert_eq!(response.status(), status, "{types:?}: {text}");
            assert_eq!(accept.as_deref(), (status == 415).then_some("application/json"), "{types:?}");
            match status {
                200 => assert_eq!(text, "42"),
                415 => assert_eq!(text, "the content is not of the media type application/json\n"),
                _ => {}
            }
        }
    }
}
