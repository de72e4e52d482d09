//! What requests carry, as the server sees it, over either version.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Cause, Content, Error, Exchange, Limits, Multipart, Part, Sent, Server, Status};
use tokio::{io::AsyncWriteExt as _, time::timeout};

use crate::support::{clients, listen, serve};

const PATIENCE: Duration = Duration::from_secs(20);

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    match path.split('?').next().unwrap_or_default() {
        // Piece by piece, so that neither side may hold back.
        "/stream" => {
            let (_, mut body, responder) = exchange.split();
            let mut writer = responder.respond(Status::OK).stream().await?;
            while let Some(chunk) = body.chunk().await? {
                writer.write(chunk).await?;
            }
            writer.finish().await
        }
        // Without a look at the content.
        "/refuse" => exchange.respond(Status::CONTENT_TOO_LARGE).send(&[b'n'; 200_000]).await,
        "/moved" => exchange.respond(Status::TEMPORARY_REDIRECT).header("location", "/seen").send(b"").await,
        "/other" => exchange.respond(Status::SEE_OTHER).header("location", "/seen").send(b"").await,
        _ => {
            let request = exchange.request();
            let field = |name: &str| {
                String::from_utf8_lossy(request.headers().get(name).unwrap_or(b"-")).into_owned()
            };
            let head = format!(
                "{} {path}\n{}\n{}\n\n",
                request.method(),
                field("content-type"),
                field("content-length")
            );
            let mut seen = head.into_bytes();
            while let Some(chunk) = exchange.body().chunk().await? {
                seen.extend_from_slice(chunk);
            }
            exchange.respond(Status::OK).send(&seen).await
        }
    }
}

async fn seen(call: alula::Call<'_>) -> Result<String, Error> {
    let mut response = timeout(PATIENCE, call.send()).await.expect("in time")?;
    timeout(PATIENCE, response.text()).await.expect("in time")
}

/// A file of its own for each test, gone with it.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("alula-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn queries_forms_text_and_json_arrive() {
    let origin = serve(answer).await;
    let url = format!("{origin}/seen?a=b");
    for client in clients() {
        let call = client.get(&url).query([("q", "ä & b")]).query(&[("n", String::from("1"))]);
        assert_eq!(seen(call).await.unwrap(), "GET /seen?a=b&q=%C3%A4+%26+b&n=1\n-\n-\n\n");
        let call = client.get(&url[..url.len() - 4]).query([("", ""); 0]);
        assert_eq!(seen(call).await.unwrap(), "GET /seen\n-\n-\n\n");
        let call = client.post(&url).form([("user", "me"), ("word", "a=b+c")]);
        let form = "POST /seen?a=b\napplication/x-www-form-urlencoded\n22\n\nuser=me&word=a%3Db%2Bc";
        assert_eq!(seen(call).await.unwrap(), form);
        let call = client.post(&url).content(Content::text("grüße"));
        assert_eq!(seen(call).await.unwrap(), "POST /seen?a=b\ntext/plain; charset=utf-8\n7\n\ngrüße");
        let call = client.put(&url).header("content-type", "x/y").content(Content::text("z"));
        assert_eq!(seen(call).await.unwrap(), "PUT /seen?a=b\nx/y\n1\n\nz");
        let call = client.post(&url).content(Content::text("dropped")).body("grüße");
        assert_eq!(seen(call).await.unwrap(), "POST /seen?a=b\n-\n7\n\ngrüße");
        let call = client.put(&url).header("content-type", "x/y").body([b'z']);
        assert_eq!(seen(call).await.unwrap(), "PUT /seen?a=b\nx/y\n1\n\nz");
        let call = client.put(&url).content(Content::bytes([]));
        assert_eq!(seen(call).await.unwrap(), "PUT /seen?a=b\n-\n0\n\n");
        let call = client.post(&url).content(Content::text("").media_type("a\r\nb"));
        assert!(matches!(seen(call).await.unwrap_err().cause(), Cause::Field(_)));
    }
}

#[cfg(feature = "json")]
#[tokio::test]
async fn json_goes_and_comes() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Port {
        name: String,
        number: u16,
    }
    let url = format!("{}/stream", serve(answer).await);
    for client in clients() {
        let port = Port { name: "https".into(), number: 443 };
        let mut response = client.post(&url).json(&port).send().await.unwrap();
        assert_eq!(response.json::<Port>().await.unwrap(), port);
        let mut response = client.post(&url).json(&[1, 2]).send().await.unwrap();
        let error = response.json::<Port>().await.unwrap_err();
        assert!(error.to_string().contains("not the JSON expected: invalid type"), "{error}");
        let error = seen(client.post(&url).json(&std::collections::HashMap::from([((1, 2), 3)]))).await;
        assert!(matches!(error.unwrap_err().cause(), Cause::Usage(_)));
    }
}

#[tokio::test]
async fn files_and_readers_arrive_whole_or_not_at_all() {
    let (url, bytes) = (format!("{}/seen", serve(answer).await), vec![b'f'; 300_000]);
    let file = Scratch::new("whole", &bytes);
    let text = String::from_utf8(bytes.clone()).unwrap();
    for client in clients() {
        let back = seen(client.put(&url).content(Content::file(&file.0))).await.unwrap();
        assert!(back == format!("PUT /seen\n-\n300000\n\n{text}"));
        let back = seen(client.put(&url).content(Content::reader(std::io::Cursor::new(bytes.clone())))).await;
        assert!(back.unwrap() == format!("PUT /seen\n-\n-\n\n{text}"));
        let reader = Content::reader_of(std::io::Cursor::new(bytes.clone()), 10);
        let back = seen(client.put(&url).content(reader)).await.unwrap();
        assert_eq!(back, "PUT /seen\n-\n10\n\nffffffffff");
        let reader = Content::reader_of(std::io::Cursor::new(bytes.clone()), 300_001);
        let error = seen(client.put(&url).content(reader)).await.unwrap_err();
        assert!(error.to_string().contains("shorter than was stated"), "{error}");
        let error = seen(client.put(&url).content(Content::file("/no/such/file"))).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Io(std::io::ErrorKind::NotFound, _)), "{error}");
        let error = seen(client.put(&url).content(Content::file(std::env::temp_dir()))).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Usage(_)), "{error}");
    }
}

#[tokio::test]
async fn forms_of_many_parts_are_as_browsers_make_them() {
    let url = format!("{}/seen", serve(answer).await);
    let file = Scratch::new("part", b"in a file");
    for client in clients() {
        let form = || {
            Multipart::new().text("a \"quoted\"\r\nname", "ü").part(
                "file",
                Part::file(&file.0).file_name("b\".txt").media_type("text/plain").header("X-A", "1"),
            )
        };
        let known = form();
        let boundary = known.boundary().to_owned();
        let parts = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a %22quoted%22%0D%0Aname\"\r\n\r\nü\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b%22.txt\"\r\n\
             Content-Type: text/plain\r\nX-A: 1\r\n\r\nin a file\r\n--{boundary}--\r\n"
        );
        let type_and_length = format!("multipart/form-data; boundary={boundary}\n{}", parts.len());
        let back = seen(client.post(&url).multipart(known)).await.unwrap();
        assert_eq!(back, format!("POST /seen\n{type_and_length}\n\n{parts}"));
        let unknown = form().part("r", Part::reader(&b"read"[..], None).file_name("r"));
        assert_ne!(unknown.boundary(), boundary);
        let end = format!("filename=\"r\"\r\n\r\nread\r\n--{}--\r\n", unknown.boundary());
        let back = seen(client.post(&url).multipart(unknown)).await.unwrap();
        assert!(back.contains("\n-\n\n--alula-") && back.ends_with(&end), "{back}");
        let mixed =
            Part::mixed([Part::file(&file.0).file_name("one"), Part::bytes("two").media_type("text/x")]);
        let form = Multipart::with_boundary("outer").part("several", mixed);
        let back = seen(client.post(&url).multipart(form)).await.unwrap();
        let within =
            back.split_once("multipart/mixed; boundary=").and_then(|(_, rest)| rest.split_once("\r\n"));
        let within = within.expect("a boundary of its own").0;
        let end = format!(
            "--outer\r\nContent-Disposition: form-data; name=\"several\"\r\n\
             Content-Type: multipart/mixed; boundary={within}\r\n\r\n\
             --{within}\r\nContent-Disposition: attachment; filename=\"one\"\r\n\
             Content-Type: application/octet-stream\r\n\r\nin a file\r\n\
             --{within}\r\nContent-Disposition: attachment\r\nContent-Type: text/x\r\n\r\ntwo\r\n\
             --{within}--\r\n\r\n--outer--\r\n"
        );
        assert!(back.ends_with(&end), "{back}");
        for (name, value) in [("x a", "1"), ("x", "1\r\ny: 2")] {
            let wrong = Multipart::new().part("a", Part::bytes("b").header(name, value));
            seen(client.post(&url).multipart(wrong)).await.unwrap_err();
        }
        let mine = Multipart::with_boundary("x-Y_9.").text("a", "");
        let back = seen(client.post(&url).multipart(mine)).await.unwrap();
        assert!(back.contains("boundary=x-Y_9.\n") && back.ends_with("\r\n\r\n\r\n--x-Y_9.--\r\n"), "{back}");
        for wrong in ["", "a b", "a\"", &"a".repeat(71)] {
            let error = seen(client.post(&url).multipart(Multipart::with_boundary(wrong))).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::Usage(_)), "{error}");
        }
    }
}

#[tokio::test]
async fn what_was_sent_is_counted_anew_each_time() {
    let origin = serve(answer).await;
    let file = Scratch::new("counted", &[b'f'; 200_000]);
    for client in clients() {
        for (path, method) in [("/seen", "PUT"), ("/moved", "PUT")] {
            for content in [Content::bytes([b'b'; 200_000]), Content::file(&file.0)] {
                let sent = Arc::<AtomicU64>::default();
                let url = format!("{origin}{path}");
                seen(client.request(method, &url).content(content.counted(sent.clone()))).await.unwrap();
                assert_eq!(sent.load(Relaxed), 200_000, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_sent_is_shown_to_whoever_wants_to_see_it() {
    let url = format!("{}/seen", serve(answer).await);
    let file = Scratch::new("observed", &[b'f'; 200_000]);
    for client in clients() {
        for content in [Content::bytes([b'f'; 200_000]), Content::file(&file.0)] {
            let shown = Arc::<Mutex<Vec<u8>>>::default();
            let shows = shown.clone();
            let content = content.observed(move |bytes| shows.lock().unwrap().extend_from_slice(bytes));
            seen(client.put(&url).content(content)).await.unwrap();
            assert!(*shown.lock().unwrap() == [b'f'; 200_000]);
        }
    }
}

#[tokio::test]
async fn a_response_is_read_while_content_is_sent() {
    let url = format!("{}/stream", serve(answer).await);
    let bytes: Vec<u8> = (0..4_000_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
    for client in clients() {
        let call = client.post(&url).content(Content::bytes(bytes.clone()));
        let mut response = timeout(PATIENCE, call.send()).await.expect("in time").unwrap();
        let back = timeout(PATIENCE, response.bytes_max(bytes.len())).await.expect("in time").unwrap();
        assert!(back == bytes);
    }
}

/// A server that waits for its readers as long as it takes, on a connection of which the content never moves
/// as a whole.
async fn start_patient() -> String {
    let hour = Duration::from_secs(3600);
    let limits = Limits { body_rate_min: 0, stall_timeout: hour, ..Limits::default() };
    format!("http://{}", listen(Server::builder().limits(limits), answer).await)
}

/// Bytes at hand were sent whole before the response was handed over: a server that sends them back while it
/// reads waited for the reader of its response, and the call for the server, without end.
#[tokio::test]
async fn bytes_at_hand_are_sent_while_the_response_is_read() {
    let url = format!("{}/stream", start_patient().await);
    let bytes: Vec<u8> = (0..10_000_000_u32).map(|at| ((at * 7) >> 3) as u8).collect();
    for client in clients() {
        let prepared = client.prepare("POST", &url).unwrap().build().unwrap();
        for call in [client.post(&url), client.call(&prepared)] {
            let sent = timeout(PATIENCE, call.send_body(&bytes)).await;
            let mut response = sent.expect("the head is handed over").unwrap();
            let back = timeout(PATIENCE, response.bytes_max(bytes.len())).await.expect("in time").unwrap();
            assert!(back == bytes);
        }
    }
}

/// A response that nobody reads takes the rest of the content with it, and the server hears of that.
#[tokio::test]
async fn what_is_left_to_send_is_given_up_with_the_response() {
    let origin = start_patient().await;
    let url = format!("{origin}/stream");
    for client in clients() {
        let response = timeout(PATIENCE, client.post(&url).send_body(vec![b'x'; 10_000_000])).await;
        drop(response.expect("the head is handed over").unwrap());
        let mut next =
            timeout(PATIENCE, client.get(&format!("{origin}/seen")).send()).await.unwrap().unwrap();
        assert_eq!(timeout(PATIENCE, next.text()).await.unwrap().unwrap(), "GET /seen\n-\n-\n\n");
    }
}

#[tokio::test]
async fn who_answers_early_is_heard() {
    let url = format!("{}/refuse", serve(answer).await);
    for client in clients() {
        // More than any window and buffer takes; the reader never ends by itself.
        let (mut feed, reader) = tokio::io::duplex(64 * 1024);
        let feeding = tokio::spawn(async move { while feed.write_all(&[b'x'; 10_000]).await.is_ok() {} });
        let call = client.post(&url).content(Content::reader(reader));
        let mut response = timeout(PATIENCE, call.send()).await.expect("in time").unwrap();
        assert_eq!(response.status(), Status::CONTENT_TOO_LARGE);
        let why = timeout(PATIENCE, response.bytes()).await.expect("in time").unwrap();
        assert_eq!(why.len(), 200_000);
        drop(response);
        timeout(PATIENCE, feeding).await.expect("nobody reads on").unwrap();
    }
}

#[tokio::test]
async fn content_goes_along_with_a_redirect_if_it_can() {
    let origin = serve(answer).await;
    let url = format!("{origin}/moved");
    let file = Scratch::new("again", b"again");
    for client in clients() {
        for content in [Content::file(&file.0), Content::bytes(*b"again")] {
            let back = seen(client.put(&url).content(content)).await.unwrap();
            assert_eq!(back, "PUT /seen\n-\n5\n\nagain");
        }
        let form = Multipart::new().part("f", Part::file(&file.0));
        assert!(seen(client.put(&url).multipart(form)).await.unwrap().contains("again"));
        let once = Content::reader(&b"once"[..]);
        let error = seen(client.put(&url).content(once)).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Redirect(_)), "{error}");
        let once = Content::reader(&b"once"[..]);
        let other = format!("{origin}/other");
        assert_eq!(seen(client.post(&other).content(once)).await.unwrap(), "GET /seen\n-\n-\n\n");
    }
}

#[tokio::test]
async fn content_waits_to_be_asked_for() {
    let origin = serve(answer).await;
    let is_read = Arc::new(AtomicBool::new(false));
    struct Reader(Arc<AtomicBool>);
    impl tokio::io::AsyncRead for Reader {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.0.store(true, Relaxed);
            std::task::Poll::Ready(Ok(()))
        }
    }
    for client in clients() {
        for (path, reads) in [("/refuse", false), ("/seen", true)] {
            let url = format!("{origin}{path}");
            let call = client.post(&url).header("expect", "100-continue");
            let response = timeout(PATIENCE, call.content(Content::reader(Reader(is_read.clone()))).send());
            drop(response.await.expect("in time").unwrap());
            assert_eq!(is_read.swap(false, Relaxed), reads, "{path}");
        }
    }
}
