//! The example programs do what they say, against a server in this process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use alula::{Error, Exchange, Sent, Server, Status};

/// A server on a thread of its own, for programs that run beside it.
fn start() -> u16 {
    let (tell, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(server.address().unwrap().port()).unwrap();
            server.serve(answer).await.unwrap();
        });
    });
    port.recv().unwrap()
}

/// Says back what it was asked; content is counted. `/large` is as long as half a megabyte.
async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let mut bytes = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        bytes += chunk.len();
    }
    let request = exchange.request();
    let agent = request.headers().get("user-agent").unwrap_or_default();
    let said = format!(
        "{} {} for {} with {bytes} bytes by {}\n",
        request.method(),
        request.path(),
        request.authority().unwrap_or_default(),
        String::from_utf8_lossy(agent)
    );
    match request.path().split('?').next().unwrap_or_default() {
        "/large" => exchange.respond(Status::OK).send(&[b'x'; 500_000]).await,
        "/proxied" => {
            let credentials = request.headers().get("proxy-authorization").unwrap_or_default().to_vec();
            exchange.respond(Status::OK).send(&credentials).await
        }
        "/page" => exchange.respond(Status::OK).send(b"<html><title> A page </title></html>").await,
        "/missing" => exchange.respond(Status::NOT_FOUND).send(b"").await,
        _ => exchange.respond(Status::OK).header("x-said", "yes").send(said.as_bytes()).await,
    }
}

/// Runs an example.
fn run(name: &str, arguments: &[&str]) -> Output {
    command(name, arguments).output().unwrap()
}

/// An example; `cargo test` has built them all beside this test.
fn command(name: &str, arguments: &[&str]) -> Command {
    let test = std::env::current_exe().unwrap();
    let folder: PathBuf = test.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "{} is not there: `cargo build -p alula --examples`", program.display());
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// An example that is a server, until this is dropped.
struct Serving {
    process: Child,
    output: BufReader<ChildStdout>,
    origin: String,
}

impl Serving {
    /// Starts a server, which says its URL in its first line.
    fn start(name: &str) -> Self {
        Self::start_with(name, &[])
    }

    /// The same, with arguments behind the address.
    fn start_with(name: &str, arguments: &[&str]) -> Self {
        let arguments = [&["127.0.0.1:0"], arguments].concat();
        let mut process = command(name, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut serving = Self { process, output, origin: String::new() };
        let line = serving.line();
        let (_, rest) = line.split_once("http://").expect("a URL in the first line");
        let authority = rest.split('/').next().unwrap_or_default().trim();
        serving.origin = format!("http://{authority}");
        serving
    }

    /// The next line that it writes.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// The URL of a path.
    fn at(&self, path: &str) -> String {
        [&self.origin, path].concat()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the standard output of a run that has to succeed, and its output for errors.
#[track_caller]
fn succeed(name: &str, arguments: &[&str]) -> (String, String) {
    let output = run(name, arguments);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{name} {arguments:?}: {out}{err}");
    (out, err)
}

#[test]
fn get_shows_head_and_content() {
    let port = start();
    let (out, err) = succeed("get", &[&format!("http://127.0.0.1:{port}/some?thing")]);
    assert!(out.starts_with(&format!("GET /some?thing for 127.0.0.1:{port} with 0 bytes")), "{out}");
    assert!(err.contains("200") && err.contains("x-said: yes"), "{err}");
    assert!(!run("get", &["http://127.0.0.1:1/"]).status.success());
}

#[test]
fn observer_shows_the_steps_of_a_call() {
    let origin = format!("http://127.0.0.1:{}", start());
    let (output, steps) = succeed("observer", &[&format!("{origin}/large")]);
    assert_eq!(output, "500000 bytes\n");
    let steps: Vec<&str> = steps.lines().map(|line| line.trim_start().split_once(' ').unwrap().1).collect();
    let connected = format!("connected to {origin} by HTTP/1.1");
    let expected = [&*format!("trying {}", &origin[7..]), &connected, "sent a head of 3 lines"];
    assert_eq!(steps, [&expected[..], &["the head of the answer: 200"]].concat());
}

#[test]
fn prepared_sends_as_often_as_asked() {
    let port = start();
    let (out, _) = succeed("prepared", &[&format!("http://127.0.0.1:{port}/large"), "20"]);
    assert!(out.starts_with("20 answers of 10000000 bytes in all"), "{out}");
    let output = run("prepared", &[&format!("http://127.0.0.1:{port}/missing"), "20"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("404"));
}

#[test]
fn upload_sends_a_file() {
    let port = start();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    let bytes = std::fs::metadata(file).unwrap().len();
    let (out, _) = succeed("upload", &[&format!("http://127.0.0.1:{port}/"), file]);
    assert!(out.contains(&format!("for {bytes} bytes")), "{out}");
    assert!(out.contains(&format!("PUT / for 127.0.0.1:{port} with {bytes} bytes")), "{out}");
}

#[test]
fn download_saves_what_is_whole() {
    let port = start();
    let path = std::env::temp_dir().join(format!("alula-download-{}", std::process::id()));
    let name = path.to_str().unwrap();
    let (out, err) = succeed("download", &[&format!("http://127.0.0.1:{port}/large"), name]);
    assert!(out.starts_with("500000 bytes") && err.contains("100 %"), "{out}{err}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 500_000]);
    std::fs::remove_file(&path).unwrap();
    assert!(!run("download", &[&format!("http://127.0.0.1:{port}/missing"), name]).status.success());
    assert!(!path.exists());
}

#[test]
fn blocking_asks_for_several_at_once() {
    let port = start();
    let urls = ["/large", "/missing"].map(|path| format!("http://127.0.0.1:{port}{path}"));
    let (out, _) = succeed("blocking", &[&urls[0], &urls[1], "http://127.0.0.1:1/"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("200") && lines[0].ends_with(", 500000 bytes"), "{out}");
    assert!(lines[1].contains("404") && lines[2].contains("could not connect: connection refused"), "{out}");
}

#[test]
fn machines_are_driven_by_hand() {
    let port = start();
    let address = format!("127.0.0.1:{port}");
    for name in ["by_hand", "by_hand_http2"] {
        let (out, _) = succeed(name, &[&address, "/path"]);
        assert_eq!(out, format!("GET /path for {address} with 0 bytes by by-hand\n"), "{name}");
        assert_eq!(succeed(name, &[&address, "/large"]).0.len(), 500_000, "{name}");
    }
}

#[test]
fn middleware_goes_around_the_client() {
    let port = start();
    let (out, _) = succeed("middleware", &[&format!("http://127.0.0.1:{port}/"), "20"]);
    let bytes = format!("GET / for 127.0.0.1:{port} with 0 bytes by alula-with-tower\n").len();
    assert_eq!(out.matches(" 200 OK").count(), 20, "{out}");
    assert!(out.ends_with(&format!("{} bytes\n", 20 * bytes)), "{out}");
}

#[test]
fn connector_leads_elsewhere() {
    let port = start();
    let (out, err) = succeed("connector", &["http://example.test/there", &format!("127.0.0.1:{port}")]);
    assert!(out.starts_with("GET /there for example.test with 0 bytes"), "{out}");
    assert!(out.contains("bytes sent") && err.contains("for example.test:80"), "{out}{err}");
}

#[test]
fn json_client_and_rest_server_understand_each_other() {
    let server = Serving::start("rest_server");
    let origin = &server.origin;
    let (out, _) = succeed("json_client", &[origin, "s3cret"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..2], ["made 1: write a client", "x 1: write a client"], "{out}");
    assert!(lines[2].contains("/tasks/1") && lines[2].contains("404") && !out.contains("s3cret"), "{out}");
    assert_eq!(ask(&[origin, "/tasks"].concat()), (200, "[]".into()));
    assert_eq!(ask(&[origin, "/tasks/7"].concat()).0, 404);
}

#[test]
fn crawler_visits_all_and_goes_on_after_failures() {
    let port = start();
    let mut list: String =
        (0..200).map(|number| format!("http://127.0.0.1:{port}/page?{number}\n")).collect();
    list.push_str("http://127.0.0.1:1/\nhttp://nowhere:port/\n");
    let path = std::env::temp_dir().join(format!("alula-crawler-{}", std::process::id()));
    std::fs::write(&path, list).unwrap();
    let (out, err) = succeed("crawler", &[path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert!(out.ends_with("200 pages, 2 failures\n"), "{out}{err}");
    assert_eq!(out.matches(" A page\n").count(), 200, "{out}");
    assert_eq!((err.lines().count(), err.contains("connection refused")), (2, true), "{err}");
}

#[test]
fn multipart_sends_text_and_file() {
    let port = start();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    let (out, _) = succeed("multipart", &[&format!("http://127.0.0.1:{port}/"), file]);
    assert!(out.starts_with("POST / for ") && out.contains(" bytes"), "{out}");
}

#[test]
fn proxied_asks_the_proxy() {
    let port = start();
    let (out, err) =
        succeed("proxied", &[&format!("http://127.0.0.1:{port}"), "http://nowhere.invalid/proxied"]);
    assert_eq!(out, "Basic dXNlcjpwYXNzd29yZA==", "{err}");
    assert!(!run("proxied", &["http://127.0.0.1:1", "http://nowhere.invalid/"]).status.success());
}

#[test]
fn axum_app_answers_with_the_address_of_its_peer() {
    let server = Serving::start("axum_app");
    let hello = [&server.origin, "/hello/w%C3%B6rld"].concat();
    assert_eq!(ask(&hello), (200, "Hello, w\u{f6}rld at 127.0.0.1: visit 1\n".into()));
    assert_eq!(ask(&hello).1, "Hello, w\u{f6}rld at 127.0.0.1: visit 2\n");
    assert_eq!(ask(&[&server.origin, "/echo"].concat()).0, 405);
}

#[test]
fn testing_tests_a_service_in_memory() {
    assert_eq!(succeed("testing", &[]).0, "3 tests passed\n");
}

#[test]
fn hello_greets() {
    let server = Serving::start("hello");
    assert_eq!(ask(&server.at("/hello/w%C3%B6rld")), (200, "Hello, w\u{f6}rld!\n".into()));
    assert_eq!(ask(&server.at("/hello")).0, 404);
    assert_eq!(ask(&server.at("/hello/%ff")).0, 400);
}

/// A folder of its own, gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("alula-example-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_serves_a_folder_and_nothing_else() {
    let folder = Folder::new("files");
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    for (name, content) in
        [("index.html", "<p>home"), ("a.txt", "0123456789"), ("sub/index.html", "<p>sub"), (".env", "s3cret")]
    {
        std::fs::write(folder.0.join(name), content).unwrap();
    }
    let server = Serving::start_with("files", &[folder.0.to_str().unwrap()]);
    assert_eq!(ask(&server.at("/")), (200, "<p>home".into()));
    assert_eq!(ask(&server.at("/sub")), (200, "<p>sub".into()), "through a redirect");
    for (path, status) in
        [("/.env", 404), ("/b.txt", 404), ("/..%2f", 400), ("/sub//index.html", 200), ("/a.txt/", 404)]
    {
        assert_eq!(ask(&server.at(path)).0, status, "{path}");
    }
    let client = alula::blocking::Client::new().unwrap();
    let url = server.at("/a.txt");
    let mut part = client.get(&url).header("range", "bytes=2-4").send().unwrap();
    assert_eq!((part.status().as_u16(), part.text().unwrap()), (206, "234".into()));
    assert!(part.headers().text("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    let etag = part.headers().get("etag").unwrap().to_vec();
    assert_eq!(client.get(&url).header("if-none-match", &etag[..]).send().unwrap().status(), 304);
    let redirects = alula::blocking::Client::builder().redirects(0).build_blocking().unwrap();
    let redirected = redirects.get(server.at("/sub")).send();
    assert!(redirected.is_ok_and(|response| response.headers().text("location") == Some("./sub/")));
}

#[test]
fn uploads_keeps_whole_files_alone() {
    let folder = Folder::new("uploads");
    let server = Serving::start_with("uploads", &[folder.0.to_str().unwrap()]);
    let client = alula::blocking::Client::new().unwrap();
    let content = vec![7; 300_000];
    let url = server.at("/picture.png");
    let mut response = client.put(&url).send_body(&content).unwrap();
    assert_eq!((response.status().as_u16(), response.text().unwrap()), (201, "300000 bytes\n".into()));
    assert_eq!(std::fs::read(folder.0.join("picture.png")).unwrap(), content);
    assert_eq!(client.put(&server.at("/.env")).send_body(b"x").unwrap().status(), 400);
    assert_eq!(client.put(&server.at("/..%2fx")).send_body(b"x").unwrap().status(), 400);
    let form = alula::Multipart::new()
        .text("about", "a picture")
        .part("file", alula::Part::bytes(content.clone()).file_name("../beach.png"));
    let mut response = client.post(server.at("/")).multipart(form).send().unwrap();
    let told = "beach.png: 300000 bytes\n";
    assert_eq!((response.status().as_u16(), &*response.text().unwrap()), (201, told));
    assert_eq!(std::fs::read(folder.0.join("beach.png")).unwrap(), content);
    std::fs::remove_file(folder.0.join("beach.png")).unwrap();
    let url = server.at("/large");
    let too_long = client.put(&url).header("content-length", (2_u64 << 30).to_string());
    let (_writer, pending) = too_long.open().unwrap();
    assert_eq!(pending.response().unwrap().status(), 413);

    // One that breaks off leaves nothing behind.
    let mut socket = std::net::TcpStream::connect(server.origin.strip_prefix("http://").unwrap()).unwrap();
    socket.write_all(b"PUT /half HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\nhalf").unwrap();
    while !folder.names().iter().any(|name| name == ".half.part") {
        std::thread::yield_now();
    }
    drop(socket);
    while folder.names().len() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(folder.names(), ["picture.png"]);
}

#[test]
fn events_tells_all_who_listen() {
    let server = Serving::start("events");
    let client = alula::blocking::Client::new().unwrap();
    let url = server.at("/events");
    let mut listeners: Vec<_> = (0..2).map(|_| client.get(&url).send().unwrap()).collect();
    let url = server.at("/messages");
    let mut said = client.post(&url).send_body(b"good\nmorning").unwrap();
    assert_eq!((said.status().as_u16(), said.text().unwrap()), (202, "2 listening\n".into()));
    for listener in &mut listeners {
        assert_eq!(listener.headers().text("content-type"), Some("text/event-stream"));
        let expected = b"event: message\ndata: good\ndata: morning\n\n";
        let mut event = [0; 41];
        assert_eq!(expected.len(), event.len());
        listener.body().read_exact(&mut event).unwrap();
        assert_eq!(&event, expected);
    }
}

#[test]
fn guarded_knows_its_users_and_bounds_them() {
    let server = Serving::start("guarded");
    let client = alula::blocking::Client::new().unwrap();
    let url = server.at("/me");
    let ask_as = |token: &str| {
        let mut response =
            client.get(&url).header("authorization", format!("Bearer {token}")).send().unwrap();
        (response.status().as_u16(), response.text().unwrap())
    };
    assert_eq!(ask(&server.at("/")), (200, "for everybody\n".into()));
    let refused = client.get(&url).header("x-user", "ann").send().unwrap();
    assert_eq!(refused.status(), 401);
    assert!(refused.headers().text("www-authenticate").is_some_and(|text| text.starts_with("Bearer ")));
    assert_eq!(ask_as("wrong").0, 401);
    for _ in 0..3 {
        assert_eq!(ask_as("s3cret"), (200, "for ann\n".into()));
    }
    assert_eq!(ask_as("s3cret").0, 429);
    assert_eq!(ask_as("t0psecret"), (200, "for ben\n".into()), "each user has a bucket");
}

#[test]
fn observed_counts_and_logs() {
    let mut server = Serving::start("observed");
    assert_eq!(ask(&server.at("/wait/1?token=s3cret")), (200, "waited\n".into()));
    let line = server.line();
    assert!(
        line.starts_with('{')
            && line.contains("\"route\":\"/wait/{milliseconds}\"")
            && !line.contains("s3cret"),
        "{line}"
    );
    assert_eq!(ask(&server.at("/wait/soon")).0, 400);
    assert_eq!(ask(&server.at("/wait/5000")).0, 503);
    let (status, text) = ask(&server.at("/metrics"));
    assert_eq!(status, 200);
    let counted = "http_requests_total{route=\"/wait/{milliseconds}\",method=\"GET\",status=\"2xx\"} 1";
    assert!(text.contains(counted), "{text}");
    assert_eq!(ask(&server.at("/livez")).0, 200);
}

#[cfg(unix)]
#[test]
fn stopping_answers_what_has_begun_and_ends() {
    let mut server = Serving::start_with("stopping", &["127.0.0.1:0"]);
    assert!(server.line().starts_with("https://127.0.0.1:"));
    let url = server.at("/");
    let begun = std::thread::spawn(move || ask(&url));
    assert_eq!(server.line(), "a request has begun\n");
    let told = Command::new("kill").args(["-INT", &server.process.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(begun.join().unwrap(), (200, "answered, though it took a second\n".into()));
    assert_eq!(server.line(), "stopped\n");
    assert!(server.process.wait().unwrap().success());
}

/// Returns the content at a URL.
fn ask(url: &str) -> (u16, String) {
    let mut response = alula::blocking::Client::new().unwrap().get(url).send().unwrap();
    (response.status().as_u16(), response.text().unwrap())
}
