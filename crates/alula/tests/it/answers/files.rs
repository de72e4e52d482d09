//! Files as answers, over both versions: conditions, ranges, what is said of them, and what is no file.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use alula::files::{self, OpenFile};
use alula::{Client, Error, Exchange, Response, Router, Sent, Status, routing};
use tokio::time::timeout;

use crate::support::{clients, serve};

const PATIENCE: Duration = Duration::from_secs(20);
const LARGE: usize = 700_001;

/// A folder of its own, gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("alula-files-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("small.txt"), "0123456789").unwrap();
        fs::write(path.join("empty.html"), "").unwrap();
        fs::write(path.join("large"), (0..LARGE).map(|at| at as u8).collect::<Vec<_>>()).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn answer(exchange: Exchange, folder: PathBuf) -> Result<Sent, Error> {
    let path = folder.join(&exchange.request().path()[1..]);
    match exchange.request().path() {
        "/201" => exchange.respond(Status::CREATED).file(path).await,
        // Gone when it is sent, but open.
        "/open" => {
            fs::write(&path, "open").unwrap();
            let file = OpenFile::open(&path).unwrap();
            fs::remove_file(&path).unwrap();
            exchange.respond(Status::OK).header("content-type", "text/x").send_file(&file).await
        }
        // Cut short after its length was stated.
        "/cut" => {
            fs::write(&path, vec![b'c'; LARGE]).unwrap();
            let file = OpenFile::open(&path).unwrap();
            fs::write(&path, "cut").unwrap();
            exchange.respond(Status::OK).send_file(&file).await
        }
        _ => exchange.respond(Status::OK).header("cache-control", "no-cache").file(path).await,
    }
}

async fn start(folder: &Folder) -> (String, [Client; 2]) {
    let path = folder.0.clone();
    let origin = serve(move |exchange| answer(exchange, path.clone())).await;
    (origin, clients())
}

/// The folder as a handler.
async fn start_handler(folder: &Folder) -> String {
    let handler = files::Folder::new(&folder.0).handler();
    let router = Router::<()>::new().route("/{*path}", routing::get(handler));
    serve(router.build().unwrap()).await
}

async fn ask(client: &Client, method: &str, url: &str, fields: &[(&str, &str)]) -> (Response, Vec<u8>) {
    let mut call = client.request(method, url);
    for (name, value) in fields {
        call = call.header(*name, value.as_bytes());
    }
    let mut response = timeout(PATIENCE, call.send()).await.expect("in time").unwrap();
    let content = timeout(PATIENCE, response.bytes_max(4 * LARGE)).await.expect("in time").unwrap();
    (response, content.to_vec())
}

#[tokio::test]
async fn a_file_is_sent_with_what_is_known_of_it() {
    let folder = Folder::new("described");
    let (origin, clients) = start(&folder).await;
    for client in &clients {
        for (name, media_type, length) in [
            ("small.txt", "text/plain; charset=utf-8", 10),
            ("empty.html", "text/html; charset=utf-8", 0),
            ("large", "application/octet-stream", LARGE),
        ] {
            let url = format!("{origin}/{name}");
            let (response, content) = ask(client, "GET", &url, &[]).await;
            assert_eq!(content, fs::read(folder.0.join(name)).unwrap(), "{name}");
            let (to_head, none) = ask(client, "HEAD", &url, &[]).await;
            assert!(none.is_empty());
            for response in [&response, &to_head] {
                let headers = response.headers();
                assert_eq!(response.status(), Status::OK, "{name}");
                assert_eq!(headers.text("content-type"), Some(media_type), "{name}");
                assert_eq!(headers.text("content-length"), Some(&*length.to_string()), "{name}");
                assert_eq!(headers.text("accept-ranges"), Some("bytes"), "{name}");
                assert_eq!(headers.text("cache-control"), Some("no-cache"), "{name}");
                assert!(headers.contains("last-modified") && headers.contains("date"), "{name}");
                assert!(headers.text("etag").unwrap().starts_with("W/"), "it was changed just now");
            }
        }
    }
}

#[tokio::test]
async fn conditions_and_ranges_are_obeyed() {
    let folder = Folder::new("conditions");
    let (origin, clients) = start(&folder).await;
    for client in &clients {
        let url = format!("{origin}/large");
        let (whole, all) = ask(client, "GET", &url, &[]).await;
        let etag = whole.headers().text("etag").unwrap();
        let modified = whole.headers().text("last-modified").unwrap();
        for (name, value) in [("if-none-match", etag), ("if-modified-since", modified)] {
            for method in ["GET", "HEAD"] {
                let (response, content) = ask(client, method, &url, &[(name, value)]).await;
                assert_eq!((response.status(), content.len()), (Status::NOT_MODIFIED, 0), "{name}");
                assert_eq!(response.headers().text("etag"), Some(etag));
            }
        }
        let (response, _) = ask(client, "GET", &url, &[("if-match", "\"other\"")]).await;
        assert_eq!(response.status(), Status::PRECONDITION_FAILED);
        let (response, content) = ask(client, "GET", &url, &[("range", "bytes=70000-150000")]).await;
        assert_eq!(response.status(), Status::PARTIAL_CONTENT);
        assert!(content == all[70_000..=150_000]);
        let (response, _) = ask(client, "GET", &url, &[("range", "bytes=700001-")]).await;
        assert_eq!(response.status(), Status::RANGE_NOT_SATISFIABLE);
        assert_eq!(response.headers().text("content-range"), Some("bytes */700001"));
        let (response, content) =
            ask(client, "GET", &url, &[("range", "bytes=0-1"), ("if-range", etag)]).await;
        assert_eq!((response.status(), content.len()), (Status::OK, LARGE), "weak (RFC 9110 §13.1.5)");
        let (response, content) = ask(client, "GET", &url, &[("range", "bytes=0-9,100000-300000")]).await;
        assert_eq!(response.content_length(), Some(content.len() as u64));
        assert!(content.windows(10).any(|ten| ten == &all[..10]) && content.len() > 200_011);
    }
}

#[tokio::test]
async fn what_is_no_file_is_not_sent() {
    let folder = Folder::new("absent");
    let (origin, clients) = start(&folder).await;
    for client in &clients {
        for (path, status) in [
            ("absent", Status::NOT_FOUND),
            ("small.txt/below", Status::NOT_FOUND),
            ("", Status::NOT_FOUND),
            ("201", Status::INTERNAL_SERVER_ERROR),
        ] {
            let (response, _) = ask(client, "GET", &format!("{origin}/{path}"), &[]).await;
            assert_eq!(response.status(), status, "{path}");
        }
        let (response, content) = ask(client, "GET", &format!("{origin}/open"), &[]).await;
        assert_eq!((response.content_type(), &*content), (Some("text/x"), &b"open"[..]));
        let mut response = client.get(&format!("{origin}/cut")).send().await.unwrap();
        let cut = timeout(PATIENCE, response.bytes_max(LARGE)).await.expect("in time");
        assert!(cut.is_err(), "what is cut must not look whole");
    }
}

/// Each answer took two threads for blocking work, one to open the file and one to read it: 47 µs of CPU
/// beside hyper's 26.
#[test]
fn a_small_file_takes_at_most_one_thread() {
    let started = Arc::new(AtomicUsize::new(0));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // A thread ends with its work, so that each work starts one.
    runtime.enable_all().thread_keep_alive(Duration::ZERO).on_thread_start({
        let started = started.clone();
        move || {
            started.fetch_add(1, Ordering::Relaxed);
        }
    });
    runtime.build().unwrap().block_on(async {
        let folder = Folder::new("one-thread");
        let (origin, clients) = start(&folder).await;
        let origins = [origin, start_handler(&folder).await];
        for (client, origin) in clients.iter().flat_map(|client| origins.iter().map(move |it| (client, it))) {
            for path in ["small.txt", "empty.html"] {
                let before = started.load(Ordering::Relaxed);
                let mut response = client.get(&format!("{origin}/{path}")).send().await.unwrap();
                let text = response.text().await.unwrap();
                assert_eq!(text, fs::read_to_string(folder.0.join(path)).unwrap());
                let more = started.load(Ordering::Relaxed) - before;
                assert!(more <= 1, "{origin}/{path} took {more} threads");
            }
            let before = started.load(Ordering::Relaxed);
            for _ in 0..20 {
                let response = client.get(&format!("{origin}/none")).send().await.unwrap();
                assert_eq!(response.status(), Status::NOT_FOUND);
            }
            let more = started.load(Ordering::Relaxed) - before;
            // The first look may have to wait for the disk.
            assert!(more <= 1 || !cfg!(target_os = "linux"), "{origin}/none took {more} threads");
        }
    });
}
