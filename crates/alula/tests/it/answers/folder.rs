//! The files of a folder as a handler, over both versions, and what is not served of it; content that is
//! written within a limit.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use alula::files::Folder;
use alula::routing::{get, post};
use alula::testing::TestServer;
use alula::{Answer, Client, Exchange, Router, Segments, Sent, Status};

/// A folder of its own, gone with the value.
struct Site(PathBuf);

impl Site {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("alula-folder-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("sub dir/empty")).unwrap();
        fs::create_dir_all(path.join(".well-known")).unwrap();
        for (name, content) in [
            ("index.html", "home"),
            ("a+b.txt", "0123456789"),
            ("sub dir/index.html", "sub"),
            (".well-known/security.txt", "contact"),
            (".env", "s3cret"),
        ] {
            fs::write(path.join(name), content).unwrap();
        }
        Self(path)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of the site below `/`, as data of paths, and under `/strict`.
fn clients(site: &Site) -> [Client; 2] {
    [false, true].map(|http2| {
        let folder = Folder::new(&site.0);
        let strict = Router::new().route("/{*path}", get(folder.handler()));
        let router = Router::new().segments(Segments::OBJECT_KEYS).nest("/strict", strict);
        let router = router.route("/", get(folder.handler())).route("/{*path}", get(folder.handler()));
        let server = TestServer::new(router.build().unwrap());
        let server = if http2 { server.http2() } else { server };
        server.client_with(Client::builder().redirects(0)).unwrap()
    })
}

async fn told(client: &Client, path: &str) -> (Status, String) {
    let mut response = client.get(&format!("http://test{path}")).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn plain_names_are_served() {
    let site = Site::new("plain");
    for client in clients(&site) {
        for (path, content) in [
            ("/", "home"),
            ("/a+b.txt", "0123456789"),
            ("/a%2bb.txt?query", "0123456789"),
            ("/sub%20dir/", "sub"),
            ("/.well-known/security.txt", "contact"),
            ("/strict/index.html", "home"),
        ] {
            assert_eq!(told(&client, path).await, (Status::OK, content.into()), "{path}");
        }
        let url = "http://test/a+b.txt";
        let head = client.head(url).send().await.unwrap();
        assert_eq!((head.status(), head.headers().text("content-length")), (Status::OK, Some("10")));
        assert_eq!(client.post(url).send_body(b"x").await.unwrap().status(), Status::METHOD_NOT_ALLOWED);
    }
}

#[tokio::test]
async fn nothing_else_is() {
    let site = Site::new("else");
    let long = format!("/{}", "n".repeat(5000));
    for client in clients(&site) {
        for path in [
            "/.env",
            "/sub%20dir/empty/",
            "/a+b.txt/",
            "/sub%20dir//index.html",
            "/sub%20dir%2findex.html",
            "/.alula-upload-0",
            "/a+b.txt/more",
            "/none",
            "/%2e%2e/x",
            "/sub%20dir%2f..%2f.env",
            "/..%5cx",
            "/C:%5cx",
            "/a%00",
            "/%ff",
            &long,
        ] {
            assert_eq!(told(&client, path).await.0, Status::NOT_FOUND, "{path}");
        }
        assert_eq!(told(&client, "/strict/%2e%2e/x").await.0, Status::BAD_REQUEST);
        let folder = client.get("http://test/sub%20dir?q=1").send().await.unwrap();
        assert_eq!(folder.status(), Status::PERMANENT_REDIRECT);
        assert_eq!(folder.headers().text("location"), Some("./sub%20dir/?q=1"));
    }
}

/// A client of a server that has this folder and no routes.
fn client_of(folder: &Folder, http2: bool) -> Client {
    let server = TestServer::new(folder.handler());
    if http2 { server.http2() } else { server }.client_with(Client::builder().redirects(0)).unwrap()
}

/// The folder was served with all that its links led to.
#[cfg(unix)]
#[tokio::test]
async fn no_link_leads_out_and_special_files_are_nothing() {
    use std::os::unix::fs::symlink;
    let (site, outside) = (Site::new("links"), Site::new("links-outside"));
    let secret = outside.0.join("index.html");
    symlink(&secret, site.0.join("absolute")).unwrap();
    symlink(&outside.0, site.0.join("folder")).unwrap();
    symlink("../../../../../../../etc/passwd", site.0.join("climbs")).unwrap();
    symlink("loop", site.0.join("loop")).unwrap();
    symlink("a+b.txt", site.0.join("within")).unwrap();
    symlink("/dev/zero", site.0.join("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(site.0.join("socket")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(site.0.join("fifo")).status().unwrap().success());
    for http2 in [false, true] {
        let client = client_of(&Folder::new(&site.0).listing(), http2);
        assert_eq!(told(&client, "/within").await.1, "0123456789");
        let names = ["absolute", "folder/", "folder/index.html", "climbs", "loop", "zero", "socket", "fifo"];
        for name in names {
            assert_eq!(told(&client, &format!("/{name}")).await.0, Status::NOT_FOUND, "{name}");
        }
        fs::rename(site.0.join("index.html"), site.0.join("home")).unwrap();
        let (_, list) = told(&client_of(&Folder::new(&site.0).listing(), http2), "/").await;
        fs::rename(site.0.join("home"), site.0.join("index.html")).unwrap();
        assert!(list.contains("\"within\"") && list.contains("\".well-known/\""), "{list}");
        assert!(list.find("sub%20dir/") < list.find("a%2Bb.txt"), "folders come first: {list}");
        assert!(!names.iter().any(|name| list.contains(&format!("\"{name}"))), "{list}");
    }
}

#[tokio::test]
async fn files_that_were_compressed_beforehand_are_sent_to_those_who_take_them() {
    let site = Site::new("compressed");
    for (name, content) in [
        ("app.js", "plain"),
        ("app.js.gz", "gzip"),
        ("app.js.br", "brotli"),
        ("drawing.svgz", "drawing"),
        ("alone.css", "alone"),
    ] {
        fs::write(site.0.join(name), content).unwrap();
    }
    // A large one is open rather than held.
    fs::write(site.0.join("app.js.zst"), "z".repeat(100_000)).unwrap();
    let folder = Folder::new(&site.0).precompressed().fresh_for(Duration::ZERO);
    for http2 in [false, true] {
        let client = client_of(&folder, http2);
        let mut tags = std::collections::HashSet::new();
        for (accept, coding, length) in [
            ("", None, 5),
            ("gzip", Some("gzip"), 4),
            ("gzip, br", Some("br"), 6),
            ("gzip;q=0.5, zstd;q=0.75, br;q=0", Some("zstd"), 100_000),
            ("identity, gzip;q=0.5", None, 5),
            ("*", Some("br"), 6),
        ] {
            let call = client.get("http://test/app.js").header("accept-encoding", accept);
            let mut response = call.send().await.unwrap();
            let headers = response.headers();
            let etag = headers.text("etag").unwrap().to_owned();
            assert_eq!(headers.text("content-encoding"), coding, "{accept}");
            assert_eq!(headers.text("content-type"), Some("text/javascript; charset=utf-8"));
            assert_eq!(headers.text("vary"), Some("accept-encoding"));
            assert_eq!(headers.text("content-length"), Some(&*length.to_string()), "{accept}");
            // Whoever decodes what was asked for here may find no such coding in it.
            assert_eq!(response.bytes_max(200_000).await.unwrap().len(), length);
            tags.insert(etag.clone());
            let call = client.get("http://test/app.js").header("accept-encoding", accept);
            let again = call.header("if-none-match", &etag).send().await.unwrap();
            assert_eq!(
                (again.status(), again.headers().text("vary")),
                (Status::NOT_MODIFIED, Some("accept-encoding"))
            );
        }
        assert_eq!(tags.len(), 4);
        let call = client.get("http://test/app.js").header("accept-encoding", "br");
        let part = call.header("range", "bytes=1-2").send().await.unwrap();
        assert_eq!(
            (part.status(), part.headers().text("content-range")),
            (Status::PARTIAL_CONTENT, Some("bytes 1-2/6"))
        );
        for (path, coding) in [("alone.css", None), ("drawing.svgz", Some("gzip"))] {
            let url = format!("http://test/{path}");
            let call = client.get(&url).header("accept-encoding", "gzip");
            let response = call.send().await.unwrap();
            let headers = response.headers();
            assert_eq!((headers.text("content-encoding"), headers.text("vary")), (coding, None), "{path}");
        }
        // One that comes later is seen, and so is one that goes.
        fs::write(site.0.join("alone.css.gz"), "later").unwrap();
        let call = client.get("http://test/alone.css").header("accept-encoding", "gzip");
        assert_eq!(call.send().await.unwrap().headers().text("content-encoding"), Some("gzip"));
        fs::remove_file(site.0.join("alone.css.gz")).unwrap();
        let call = client.get("http://test/alone.css").header("accept-encoding", "gzip");
        assert_eq!(call.send().await.unwrap().headers().text("content-encoding"), None);
    }
}

#[tokio::test]
async fn pages_stand_for_what_is_not_there() {
    let site = Site::new("pages");
    fs::write(site.0.join("404.html"), "lost").unwrap();
    for http2 in [false, true] {
        let lost = client_of(&Folder::new(&site.0).not_found("404.html"), http2);
        let response = lost.get("http://test/none.js").send().await.unwrap();
        assert_eq!(response.headers().text("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(told(&lost, "/none.js").await, (Status::NOT_FOUND, "lost".into()));
        assert_eq!(told(&lost, "/.env").await, (Status::NOT_FOUND, "lost".into()));
        assert_eq!(told(&lost, "/404.html").await.0, Status::OK);
        let program = client_of(&Folder::new(&site.0).spa().not_found("404.html"), http2);
        assert_eq!(told(&program, "/users/7").await, (Status::OK, "home".into()));
        assert_eq!(told(&program, "/app.js").await, (Status::NOT_FOUND, "lost".into()));
        let other = client_of(&Folder::new(&site.0).index("404.html").show_hidden(), http2);
        assert_eq!(told(&other, "/").await.1, "lost");
        assert_eq!(told(&other, "/.env").await.1, "s3cret");
    }
}

/// Makes a file that this program may not read, and returns the folder of it; none where there is no such
/// thing: whoever may do everything may read all files but some of the system's.
#[cfg(unix)]
fn unreadable(site: &Site) -> Option<(PathBuf, &'static str)> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = site.0.join("closed");
    fs::write(&file, "closed").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let found = [(site.0.clone(), "closed"), ("/sys/bus/cpu".into(), "drivers_probe")];
    let is_closed = |(folder, name): &(PathBuf, &str)| {
        fs::read(folder.join(name)).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    found.into_iter().find(is_closed)
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_not_be_read_is_403_and_told() {
    let site = Site::new("closed");
    let Some((folder, name)) = unreadable(&site) else { return };
    let told_of = Arc::new(Mutex::new(Vec::new()));
    let hears = told_of.clone();
    let server = alula::Server::builder();
    let server = server.on_error(move |failure| hears.lock().unwrap().push(failure.to_string()));
    let server = server.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/{name}", server.address().unwrap());
    tokio::spawn(server.serve(Folder::new(folder).handler::<()>()));
    let client = Client::new().unwrap();
    for _ in 0..30 {
        assert_eq!(client.get(&url).send().await.unwrap().status(), Status::FORBIDDEN);
    }
    let told_of = told_of.lock().unwrap();
    assert!(told_of[0].contains(&format!("{name}: ")), "{told_of:?}");
    assert!((1..30).contains(&told_of.len()), "a flood of requests is no flood of lines: {told_of:?}");
}

#[tokio::test]
async fn files_change_while_they_are_held() {
    let site = Site::new("change");
    let client = client_of(&Folder::new(&site.0).fresh_for(Duration::ZERO), false);
    let path = site.0.join("a+b.txt");
    for content in ["grown longer than before", "short", ""] {
        fs::write(&path, content).unwrap();
        assert_eq!(told(&client, "/a+b.txt").await.1, content);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(told(&client, "/a+b.txt").await.0, Status::NOT_FOUND);
    fs::create_dir(&path).unwrap();
    assert_eq!(told(&client, "/a+b.txt").await.0, Status::PERMANENT_REDIRECT);
}

/// Answers with what was written, or with its error.
async fn write(mut exchange: Exchange) -> Result<Sent, Answer> {
    let mut written = io::Cursor::new(Vec::new());
    let copied = exchange.body().copy_to_max(&mut written, 10).await;
    if written.get_ref().len() > 10 {
        return Err((Status::INTERNAL_SERVER_ERROR, "more was written").into());
    }
    let bytes = copied?;
    assert_eq!(bytes, written.get_ref().len() as u64);
    Ok(exchange.respond(Status::OK).send(written.into_inner()).await?)
}

#[tokio::test]
async fn no_more_is_written_than_is_allowed() {
    for http2 in [false, true] {
        let server = TestServer::new(Router::new().route("/", post(write)).build().unwrap());
        let client = if http2 { server.http2() } else { server }.client();
        for (content, status) in [("", 200), ("0123456789", 200), ("0123456789x", 413)] {
            let response = client.post("http://test/").send_body(content.as_bytes()).await.unwrap();
            assert_eq!(response.status(), status, "{content}");
            let reader = alula::Content::reader(io::Cursor::new(content));
            let response = client.post("http://test/").content(reader).send().await.unwrap();
            assert_eq!(response.status(), status, "{content}, of no stated length");
        }
    }
}
