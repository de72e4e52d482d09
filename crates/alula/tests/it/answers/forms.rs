//! The forms of answers: text, JSON, redirections, pieces, readers, event streams, conditions and interim
//! fields, over both versions, to GET and to HEAD, which states what GET would and sends none.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Client, Error, Event, Exchange, FieldSection, KnownName, Response, Sent, Server, Status};
use tokio::time::timeout;

use crate::support::listen;

const PATIENCE: Duration = Duration::from_secs(20);
const LARGE: usize = 3_000_000;

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    let ok = |exchange: Exchange| exchange.respond(Status::OK);
    match &*path {
        "/text" => ok(exchange).text("Grüße").await,
        "/html" => ok(exchange).html("<p>hello").await,
        "/markdown" => ok(exchange).header("content-type", "text/markdown").text("# hello").await,
        "/json" => ok(exchange).json(&("a", 1)).await,
        "/json-fails" => ok(exchange).json(&std::collections::BTreeMap::from([((1, 2), 3)])).await,
        "/redirect" => exchange.respond(Status::SEE_OTHER).redirect("/grün und so?a=b%20c").await,
        "/redirect-200" => ok(exchange).redirect("/").await,
        "/redirect-control" => exchange.respond(Status::FOUND).redirect("/\r\nx: y").await,
        "/parts" => ok(exchange).send_parts(&[b"", b"one,", b"", b"two,", b"three", b""]).await,
        "/no-parts" => ok(exchange).send_parts(&[]).await,
        "/empty-parts" => ok(exchange).send_parts(&[b"", b""]).await,
        "/large-parts" => {
            let (front, back) = (vec![b'f'; LARGE], vec![b'b'; LARGE]);
            ok(exchange).send_parts(&[b"|", &front, &back]).await
        }
        "/parts-204" => exchange.respond(Status::NO_CONTENT).send_parts(&[b"none"]).await,
        "/reader" => ok(exchange).reader(&vec![b'r'; LARGE][..]).await,
        "/reader-length" => ok(exchange).header("content-length", "4").reader(&b"read"[..]).await,
        "/reader-fails" => ok(exchange).reader(failing_reader()).await,
        "/stream" => {
            let mut writer = ok(exchange).stream().await?;
            writer.write("streamed").await?;
            writer.finish().await
        }
        "/events" => {
            let mut events = ok(exchange).events().await?.keep_alive(Duration::from_millis(20));
            events.event(Event::data("one\ntwo").name("n").id("1").retry(Duration::from_secs(2))).await?;
            let slept = tokio::time::sleep(Duration::from_millis(50));
            events.wait(slept).await?;
            events.data("three").await?;
            events.finish().await
        }
        "/conditional" => {
            let reply = ok(exchange).header("etag", "\"v1\"").header("cache-control", "max-age=60");
            let reply = reply.header("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT");
            reply.header("content-type", "text/plain").send_conditional(b"0123456789").await
        }
        "/conditional-201" => exchange.respond(Status::CREATED).send_conditional(b"").await,
        "/hints" => {
            let hints = FieldSection::from_pairs([("link", "</a.css>; rel=preload")])?;
            exchange.interim_with(Status::EARLY_HINTS, &hints)?;
            ok(exchange).text("after hints").await
        }
        _ => exchange.respond(Status::NOT_FOUND).send([]).await,
    }
}

/// Reads a little and fails.
fn failing_reader() -> impl tokio::io::AsyncRead {
    use tokio::io::AsyncReadExt as _;
    struct Fails;
    impl tokio::io::AsyncRead for Fails {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Err(std::io::Error::other("the disk is gone")))
        }
    }
    (&b"some"[..]).chain(Fails)
}

struct Site {
    origin: String,
    clients: [Client; 2],
    /// The requests whose handlers failed.
    failed: Arc<Mutex<Vec<String>>>,
}

async fn start() -> Site {
    let failed = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&failed);
    let server = Server::builder().on_error(move |failure| hear.lock().unwrap().push(failure.to_string()));
    let origin = format!("http://{}", listen(server, answer).await);
    let client = |http2| {
        let builder = Client::builder().http2_prior_knowledge(http2).redirects(0);
        builder.build().unwrap()
    };
    Site { origin, clients: [false, true].map(client), failed }
}

async fn ask(
    client: &Client,
    method: &str,
    url: &str,
    fields: &[(&str, &str)],
) -> Result<(Response, Vec<u8>), Error> {
    let mut call = client.request(method, url);
    for (name, value) in fields {
        call = call.header(*name, value.as_bytes());
    }
    let mut response = timeout(PATIENCE, call.send()).await.expect("in time")?;
    let content = timeout(PATIENCE, response.bytes_max(4 * LARGE)).await.expect("in time")?;
    Ok((response, content.to_vec()))
}

impl Site {
    /// Asks by GET and HEAD over both versions: the heads are alike, and HEAD has no content.
    async fn get(&self, path: &str, fields: &[(&str, &str)]) -> (FieldSection, Status, String) {
        let (mut heads, mut contents) = (Vec::new(), Vec::new());
        for client in &self.clients {
            for method in ["GET", "HEAD"] {
                let url = format!("{}{path}", self.origin);
                let (response, content) = ask(client, method, &url, fields).await.unwrap();
                let mut head = response.headers().clone();
                assert_eq!(head.remove(KnownName::DATE), 1, "{path}");
                head.remove("transfer-encoding");
                heads.push((response.status(), head));
                if method == "HEAD" {
                    assert_eq!(content, b"", "HEAD {path}");
                } else {
                    contents.push(with_one_comment(content));
                }
            }
        }
        for (status, head) in &heads {
            assert_eq!(*status, heads[0].0, "{path}");
            assert!(head.is_copy_of(&heads[0].1), "{path}: {head:?} and {:?}", heads[0].1);
        }
        assert_eq!(contents[0], contents[1], "{path}");
        let (status, head) = heads.swap_remove(0);
        (head, status, String::from_utf8(contents.swap_remove(0)).unwrap())
    }
}

/// The number of comments that an event stream has while it waits is chance: one stands for all in a row.
fn with_one_comment(mut content: Vec<u8>) -> Vec<u8> {
    const TWO: &[u8] = b": \n\n: \n\n";
    while let Some(at) = content.windows(TWO.len()).position(|bytes| bytes == TWO) {
        content.drain(at..at + TWO.len() / 2);
    }
    content
}

#[tokio::test]
async fn content_has_its_type_and_length() {
    let site = start().await;
    for (path, media_type, content) in [
        ("/text", "text/plain; charset=utf-8", "Grüße"),
        ("/html", "text/html; charset=utf-8", "<p>hello"),
        ("/markdown", "text/markdown", "# hello"),
        ("/json", "application/json", "[\"a\",1]"),
    ] {
        let (head, status, sent) = site.get(path, &[]).await;
        assert_eq!((status, &*sent), (Status::OK, content), "{path}");
        assert_eq!(head.text("content-type"), Some(media_type), "{path}");
        assert_eq!(head.text("content-length"), Some(&*content.len().to_string()), "{path}");
        assert_eq!(head.len(), 2, "{path}: {head:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_answered_500() {
    let site = start().await;
    for path in ["/json-fails", "/redirect-200", "/redirect-control", "/conditional-201"] {
        for client in &site.clients {
            let (response, _) = ask(client, "GET", &format!("{}{path}", site.origin), &[]).await.unwrap();
            assert_eq!(response.status(), Status::INTERNAL_SERVER_ERROR, "{path}");
        }
    }
}

#[tokio::test]
async fn a_redirection_has_an_escaped_location() {
    let (head, status, content) = start().await.get("/redirect", &[]).await;
    assert_eq!((status, &*content), (Status::SEE_OTHER, ""));
    assert_eq!(head.text("location"), Some("/gr%C3%BCn%20und%20so?a=b%20c"));
}

#[tokio::test]
async fn pieces_are_one_content() {
    let site = start().await;
    for (path, content) in [("/parts", "one,two,three"), ("/no-parts", ""), ("/empty-parts", "")] {
        let (head, _, sent) = site.get(path, &[]).await;
        assert_eq!(sent, content, "{path}");
        assert_eq!(head.text("content-length"), Some(&*content.len().to_string()), "{path}");
    }
    let (head, status, sent) = site.get("/parts-204", &[]).await;
    assert_eq!((status, &*sent, head.len()), (Status::NO_CONTENT, "", 0));
    let (head, _, sent) = site.get("/large-parts", &[]).await;
    assert_eq!(head.text("content-length"), Some(&*(2 * LARGE + 1).to_string()));
    let (front, back) = sent.strip_prefix('|').unwrap().split_at(LARGE);
    assert!(front.bytes().all(|byte| byte == b'f') && back.bytes().all(|byte| byte == b'b'));
}

#[tokio::test]
async fn a_reader_is_read_to_its_end() {
    let site = start().await;
    let (head, _, sent) = site.get("/reader", &[]).await;
    assert!(sent.len() == LARGE && head.get("content-length").is_none());
    let (head, _, sent) = site.get("/reader-length", &[]).await;
    assert_eq!((&*sent, head.text("content-length")), ("read", Some("4")));
    for client in &site.clients {
        let failed = ask(client, "GET", &format!("{}/reader-fails", site.origin), &[]).await;
        assert!(failed.is_err(), "what is cut must not look whole");
    }
}

#[tokio::test]
async fn a_streamed_answer_to_head_is_complete_with_its_head() {
    let site = start().await;
    let (_, status, content) = site.get("/stream", &[]).await;
    assert_eq!((status, &*content), (Status::OK, "streamed"));
    assert!(site.failed.lock().unwrap().is_empty(), "the handler need not know of HEAD");
}

#[tokio::test]
async fn events_are_text_with_comments_between() {
    let (head, _, content) = start().await.get("/events", &[]).await;
    assert_eq!(head.text("content-type"), Some("text/event-stream"));
    assert_eq!(head.text("cache-control"), Some("no-cache"));
    let expected = "event: n\nid: 1\nretry: 2000\ndata: one\ndata: two\n\n: \n\ndata: three\n\n";
    assert_eq!(content, expected);
}

#[tokio::test]
async fn conditions_and_ranges_select_the_content() {
    let site = start().await;
    for (fields, status, expected, range) in [
        (&[][..], Status::OK, "0123456789", None),
        (&[("if-none-match", "\"v1\"")], Status::NOT_MODIFIED, "", None),
        (&[("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")], Status::NOT_MODIFIED, "", None),
        (&[("if-match", "\"v2\"")], Status::PRECONDITION_FAILED, "", None),
    ] {
        let (head, answered, content) = site.get("/conditional", fields).await;
        assert_eq!((answered, &*content), (status, expected), "{fields:?}");
        assert_eq!(head.text("content-range"), range, "{fields:?}");
        assert_eq!(head.text("etag"), Some("\"v1\""), "{fields:?}");
        assert_eq!(head.text("cache-control"), Some("max-age=60"), "{fields:?}");
        assert_eq!(head.contains("content-type"), status == Status::OK, "{fields:?}");
    }
    for client in &site.clients {
        let url = format!("{}/conditional", site.origin);
        for (range, status, expected, content_range) in [
            ("bytes=2-3", Status::PARTIAL_CONTENT, "23", Some("bytes 2-3/10")),
            ("bytes=-1", Status::PARTIAL_CONTENT, "9", Some("bytes 9-9/10")),
            ("bytes=10-", Status::RANGE_NOT_SATISFIABLE, "", Some("bytes */10")),
            ("lines=1-2", Status::OK, "0123456789", None),
        ] {
            let (response, content) = ask(client, "GET", &url, &[("range", range)]).await.unwrap();
            assert_eq!(response.status(), status, "{range}");
            assert_eq!(String::from_utf8_lossy(&content), expected, "{range}");
            assert_eq!(response.headers().text("content-range"), content_range, "{range}");
            assert_eq!(response.content_length(), Some(expected.len() as u64), "{range}");
        }
        let (response, content) = ask(client, "GET", &url, &[("range", "bytes=0-0,-1")]).await.unwrap();
        assert_eq!(response.content_length(), Some(content.len() as u64));
        let media_type = response.headers().text("content-type").unwrap();
        let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let part = |range: &str, byte: &str| {
            format!(
                "\r\n--{boundary}\r\ncontent-type: text/plain\r\ncontent-range: bytes {range}/10\r\n\r\n{byte}"
            )
        };
        let expected = format!("{}{}\r\n--{boundary}--\r\n", part("0-0", "0"), part("9-9", "9"));
        assert_eq!(String::from_utf8(content).unwrap(), expected);
    }
}

#[tokio::test]
async fn interim_answers_have_fields() {
    let site = start().await;
    for client in &site.clients {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hook = Arc::clone(&heard);
        let url = format!("{}/hints", site.origin);
        let call = client.get(&url).on_interim(move |status, fields| {
            hook.lock().unwrap().push((status, fields.text("link").map(str::to_owned)));
        });
        let mut response = timeout(PATIENCE, call.send()).await.expect("in time").unwrap();
        assert_eq!(response.bytes().await.unwrap(), "after hints");
        let expected = (Status::EARLY_HINTS, Some("</a.css>; rel=preload".to_owned()));
        assert_eq!(*heard.lock().unwrap(), [expected]);
    }
}
