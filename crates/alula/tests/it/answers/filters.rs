//! Filters: what they see of answers, what they make of heads and content, in every form of answer, over both
//! versions.

use std::time::Duration;

use alula::routing::{get, on};
use alula::{
    Client, Encoder, EntityTags, Error, Event, Exchange, FieldSection, Filter, Outgoing, Response, Router,
    Sent, Server, Status,
};

use crate::support::{listen, serve_routes};

/// Makes content upper case.
struct Uppercase;

impl Filter for Uppercase {
    fn begin(&self, answer: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        let asked = answer.request().headers().text("x-ask").map(str::to_owned);
        answer.headers_mut().set("x-asked", asked.unwrap_or_default()).unwrap();
        (answer.status() != 206).then(|| Box::new(Self) as _)
    }
}

impl Encoder for Uppercase {
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(content.iter().map(u8::to_ascii_uppercase));
        Ok(())
    }
}

/// Puts brackets around content, and a bar behind each piece that was written.
struct Brackets;

/// The state of one message.
struct Bracketing {
    has_begun: bool,
}

impl Filter for Brackets {
    fn begin(&self, _: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        Some(Box::new(Bracketing { has_begun: false }))
    }
}

impl Encoder for Bracketing {
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(if std::mem::replace(&mut self.has_begun, true) { "" } else { "[a " }.bytes());
        out.extend_from_slice(content);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.push(b'|');
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.push(b']');
        Ok(())
    }
}

/// Cannot encode content that has a `!`.
struct Fails;

impl Filter for Fails {
    fn begin(&self, _: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        Some(Box::new(Self))
    }
}

impl Encoder for Fails {
    fn encode(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(content);
        if content.contains(&b'!') { Err(Error::other("there is a `!`")) } else { Ok(()) }
    }
}

const LONG: usize = 300_000;

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let form = exchange.request().path().trim_start_matches(|it| it != '.').to_owned();
    let ok = Status::OK;
    match &*form {
        ".send" => exchange.respond(ok).send("whole").await,
        ".empty" => exchange.respond(ok).send("").await,
        ".parts" => exchange.respond(ok).send_parts(&[b"in ", b"", b"parts"]).await,
        ".long" => exchange.respond(ok).send(vec![b'x'; LONG]).await,
        ".none" => exchange.respond(Status::NO_CONTENT).send("").await,
        ".stated" => exchange.respond(ok).header("content-length", "6").send("stated").await,
        ".part" => exchange.respond(ok).header("etag", "\"1\"").send_conditional("0123abcd").await,
        ".pieces" => {
            let mut writer = exchange.respond(ok).header("content-length", "10").stream().await?;
            writer.write("one").await?;
            writer.write("").await?;
            writer.write("two").await?;
            writer.finish_content("last").await
        }
        ".many" => {
            let mut writer = exchange.respond(ok).stream().await?;
            for _ in 0..LONG / 1_000 {
                writer.write([b'x'; 1_000]).await?;
            }
            writer.finish().await
        }
        ".tried" => {
            let mut writer = exchange.respond(ok).stream().await?;
            let mut rest = LONG;
            while rest > 0 {
                let room = writer.writable().await?;
                rest -= writer.try_write(&vec![b'x'; room.min(rest)])?;
            }
            writer.finish().await
        }
        ".trailers" => {
            let mut writer = exchange.respond(ok).stream().await?;
            writer.write("before").await?;
            writer.finish_with(&FieldSection::from_pairs([("x-after", "1")])?).await
        }
        ".events" => {
            let mut events = exchange.respond(ok).events().await?;
            events.event(Event::data("one")).await?;
            events.event(Event::data("two")).await?;
            events.finish().await
        }
        ".held" => {
            let mut events = exchange.respond(ok).events().await?;
            events.event(Event::data("one")).await?;
            std::future::pending().await
        }
        ".split" => {
            exchange.body().bytes().await?;
            let (request, _, responder) = exchange.split();
            drop(request);
            responder.respond(ok).send("split").await
        }
        ".cut" => {
            let mut writer = exchange.respond(ok).stream().await?;
            writer.write("fine").await?;
            writer.write("not so!").await?;
            writer.finish().await
        }
        ".fail" => exchange.respond(ok).send("fail!").await,
        _ => Err(Error::other("there is no such form")),
    }
}

/// Answers HEAD for content that it does not make.
async fn describes(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::ACCEPTED).header("content-length", "5").send("").await
}

async fn tunnels(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).stream().await?.finish_content("as it is").await
}

/// Leaves content as it is.
struct Nothing;

impl Filter for Nothing {
    fn begin(&self, answer: &mut Outgoing<'_>) -> Option<Box<dyn Encoder>> {
        let is_whole = answer.content().is_some();
        answer.headers_mut().set("x-whole", is_whole.to_string()).unwrap();
        None
    }
}

fn routes() -> Router {
    Router::new()
        .filter(Uppercase)
        .route("/two/{form}", get(answer).filter(Brackets))
        .route("/one/{form}", get(answer))
        .route("/fails/{form}", get(answer).filter(Fails))
        .route("/described", get(answer).head(describes).filter(Brackets))
        .route("/tunnel", on("CONNECT", tunnels))
        .nest("/nested", Router::new().filter(Brackets).route("/{form}", get(answer)))
}

fn client(http2: bool) -> Client {
    Client::builder().http2_prior_knowledge(http2).timeout(Duration::from_secs(10)).build().unwrap()
}

async fn ask(client: &Client, url: String) -> Response {
    client.get(url).header("x-ask", "yes").send().await.unwrap()
}

#[tokio::test]
async fn every_form_of_answer_passes_its_filters() {
    let origin = serve_routes(routes()).await;
    let xs = "X".repeat(LONG);
    let (many, tried) = (format!("[A {}]", "X".repeat(LONG)), "X".repeat(LONG));
    for http2 in [false, true] {
        let client = client(http2);
        for (path, length, content) in [
            ("one/.send", Some(5), "WHOLE"),
            ("one/.empty", Some(0), ""),
            ("one/.parts", Some(8), "IN PARTS"),
            ("one/.long", Some(LONG), &*xs),
            ("one/.stated", Some(6), "STATED"),
            ("one/.pieces", None, "ONETWOLAST"),
            ("one/.many", None, &*xs),
            ("one/.tried", None, &*tried),
            ("one/.split", Some(5), "SPLIT"),
            ("two/.send", Some(9), "[A WHOLE]"),
            ("two/.empty", Some(4), "[A ]"),
            ("two/.stated", Some(10), "[A STATED]"),
            ("two/.parts", Some(12), "[A IN PARTS]"),
            ("two/.pieces", None, "[A ONE|TWO|LAST]"),
            ("nested/.send", Some(9), "[A WHOLE]"),
            ("nested/.events", None, "[A DATA: ONE\n\n|DATA: TWO\n\n|]"),
        ] {
            let mut response = ask(&client, format!("{origin}/{path}")).await;
            assert_eq!(response.status(), 200, "{path}, HTTP/2: {http2}");
            assert_eq!(response.headers().text("x-asked"), Some("yes"), "{path}, HTTP/2: {http2}");
            let stated = response.headers().text("content-length").map(|digits| digits.parse().unwrap());
            assert_eq!(stated, length, "{path}, HTTP/2: {http2}");
            assert_eq!(response.text().await.unwrap(), content, "{path}, HTTP/2: {http2}");
        }
        let mut response = ask(&client, format!("{origin}/two/.many")).await;
        assert_eq!(response.text().await.unwrap().replace('|', ""), many);
        let mut response = ask(&client, format!("{origin}/two/.tried")).await;
        let content = response.text().await.unwrap();
        assert_eq!((content.replace('|', ""), content.starts_with("[A X")), (many.clone(), true));
    }
}

#[tokio::test]
async fn answers_to_head_state_what_the_answer_to_get_would() {
    let origin = serve_routes(routes()).await;
    for http2 in [false, true] {
        let client = client(http2);
        for (path, length) in [("two/.send", Some("9")), ("two/.pieces", None), ("one/.long", Some("300000"))]
        {
            let mut response = client.head(format!("{origin}/{path}")).send().await.unwrap();
            assert_eq!(response.headers().text("content-length"), length, "{path}, HTTP/2: {http2}");
            assert!(response.bytes().await.unwrap().is_empty());
        }
        let response = client.head(format!("{origin}/described")).send().await.unwrap();
        assert_eq!((response.status(), response.headers().text("content-length")), (Status::ACCEPTED, None));
        let other = serve_routes(Router::new().route("/", get(answer).head(describes).filter(Nothing))).await;
        let response = client.head(other).send().await.unwrap();
        assert_eq!(response.headers().text("content-length"), Some("5"), "HTTP/2: {http2}");
        assert_eq!(response.headers().text("x-whole"), Some("false"), "HTTP/2: {http2}");
        let mut response = ask(&client, format!("{origin}/two/.none")).await;
        assert_eq!(
            (response.status(), response.headers().text("x-asked")),
            (Status::NO_CONTENT, Some("yes"))
        );
        assert!(response.bytes().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn parts_and_trailers_go_out_as_well() {
    let origin = serve_routes(routes()).await;
    for http2 in [false, true] {
        let client = client(http2);
        let mut response =
            client.get(format!("{origin}/one/.part")).header("range", "bytes=4-5").send().await.unwrap();
        assert_eq!((response.status(), &*response.text().await.unwrap()), (Status::PARTIAL_CONTENT, "ab"));
        let mut response =
            client.get(format!("{origin}/one/.part")).header("if-none-match", "\"1\"").send().await.unwrap();
        assert_eq!((response.status(), &*response.text().await.unwrap()), (Status::NOT_MODIFIED, ""));
        let mut response = client.get(format!("{origin}/two/.trailers")).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "[A BEFORE|]");
        let trailers = response.body().trailers().await.unwrap().unwrap();
        assert_eq!(trailers.text("x-after"), Some("1"));
    }
}

#[tokio::test]
async fn the_bytes_of_a_tunnel_pass_no_filter() {
    let url = format!(
        "http://{}/tunnel",
        listen(Server::builder().extended_connect(true), routes().build().unwrap()).await
    );
    let (up, pending) = client(true).request("CONNECT", &url).protocol("echo").open().await.unwrap();
    let mut response = pending.response().await.unwrap();
    assert_eq!((response.status(), response.headers().text("x-asked")), (Status::OK, None));
    assert_eq!(response.text().await.unwrap(), "as it is");
    drop(up);
}

#[tokio::test]
async fn each_event_leaves_when_it_is_written() {
    let origin = serve_routes(routes()).await;
    for http2 in [false, true] {
        let mut response = ask(&client(http2), format!("{origin}/nested/.held")).await;
        let first = response.body().chunk().await.unwrap().unwrap();
        assert_eq!(std::str::from_utf8(first).unwrap(), "[A DATA: ONE\n\n|");
    }
}

#[tokio::test]
async fn an_encoder_that_fails_is_500_or_a_reset() {
    let origin = serve_routes(routes()).await;
    for http2 in [false, true] {
        let client = client(http2);
        assert_eq!(ask(&client, format!("{origin}/fails/.fail")).await.status(), 500);
        let mut cut = ask(&client, format!("{origin}/fails/.cut")).await;
        assert_eq!(cut.status(), 200);
        assert!(cut.text().await.is_err());
        assert_eq!(ask(&client, format!("{origin}/fails/.send")).await.status(), 200);
    }
}

#[tokio::test]
async fn entity_tags_save_what_the_client_has() {
    let routes = Router::new().filter(EntityTags::new()).route("/{form}", get(answer).filter(Uppercase));
    let origin = serve_routes(routes).await;
    for http2 in [false, true] {
        let client = client(http2);
        let whole = ask(&client, format!("{origin}/.send")).await;
        // Part of the SHA-256 of "WHOLE": the tag is that of what leaves.
        let tag = whole.headers().text("etag").unwrap().to_owned();
        assert_eq!(tag, alula::files::EntityTag::of_content(b"WHOLE").as_str());
        let parts = ask(&client, format!("{origin}/.parts")).await;
        let expected = alula::files::EntityTag::of_content(b"IN PARTS");
        assert_eq!(parts.headers().text("etag"), Some(expected.as_str()));
        for (name, value, status) in [
            ("if-none-match", &*tag, 304),
            ("if-none-match", "*", 304),
            ("if-none-match", "\"0\"", 200),
            ("if-match", "\"0\"", 412),
            ("if-match", &*tag, 200),
        ] {
            for method in ["GET", "HEAD"] {
                let call = client.request(method, format!("{origin}/.send")).header(name, value);
                let mut response = call.send().await.unwrap();
                assert_eq!(response.status(), status, "{method} {name}: {value}");
                assert_eq!(response.headers().text("etag"), Some(&*tag), "{method} {name}: {value}");
                let length = response.headers().text("content-length").map(str::to_owned);
                assert_eq!(length.as_deref() == Some("5"), status == 200, "{method} {name}: {length:?}");
                let due = if status == 200 && method == "GET" { "WHOLE" } else { "" };
                assert_eq!(response.text().await.unwrap(), due);
            }
        }
        let streamed = ask(&client, format!("{origin}/.pieces")).await;
        assert_eq!((streamed.status(), streamed.headers().text("etag")), (Status::OK, None));
    }
}
