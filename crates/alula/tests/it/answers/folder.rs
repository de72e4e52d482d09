//! The files of a folder as a handler, over both versions, and what is not served of it; content that is
//! written within a limit.

use std::{fs, io, path::PathBuf};

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
            ("/sub%20dir//index.html", "sub"),
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
