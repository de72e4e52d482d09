//! Steps of exchanges, as whoever watches is told of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{
    Call, Client, ClientBuilder, Error, Exchange, ExchangeEvent, FieldSection, Follow, Observer, Retries,
    Sent, Setback, Status, Version,
};

use crate::support::serve;

/// The events, a line each.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn watching(&self, builder: ClientBuilder) -> ClientBuilder {
        builder.observe(self.clone())
    }

    fn watching_call<'c>(&self, call: Call<'c>) -> Call<'c> {
        call.observe(self.clone())
    }

    /// Those since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Lines {
    fn event(&self, event: &ExchangeEvent<'_>) {
        match event {
            // The host is an address in all cases but one.
            ExchangeEvent::Resolved("127.0.0.1", [_]) => {}
            event => self.0.lock().unwrap().push(told(event)),
        }
    }
}

fn brief(setback: Setback<'_>) -> String {
    match setback {
        Setback::Failed(error) => format!("{:?}", error.phase()),
        other => other.to_string(),
    }
}

fn told(event: &ExchangeEvent<'_>) -> String {
    match event {
        ExchangeEvent::Resolved(host, addresses) => format!("{host} has {}", addresses.len()),
        ExchangeEvent::Connecting(_) => "connecting".to_owned(),
        ExchangeEvent::NotConnected(_, error) => format!("not connected: {:?}", error.kind()),
        ExchangeEvent::Retrying(setback, wait) => {
            assert!(wait.as_secs() < 1, "{wait:?}");
            format!("again, since {}", brief(*setback))
        }
        ExchangeEvent::NotRetried(setback, reason) => format!("{reason}: {}", brief(*setback)),
        ExchangeEvent::Connected(to) => {
            assert!(to.remote_address().is_some() && to.local_address().is_some());
            assert!(to.origin().starts_with("http://127.0.0.1:"), "{to:?}");
            format!("connected {}", if to.is_reused() { "again" } else { "anew" })
        }
        ExchangeEvent::Request(head) => {
            let lines: Vec<_> = head.lines().map(String::from_utf8_lossy).collect();
            match head.version() {
                Version::Http1 => lines[0].clone().into_owned(),
                _ => format!("{}, {}", lines[0], lines[3]),
            }
        }
        ExchangeEvent::Interim(head) => format!("interim {}", head.status().as_u16()),
        ExchangeEvent::Response(head) => {
            assert_eq!(head.bytes().is_some(), head.version() == Version::Http1);
            format!("{} {} {}", head.version(), head.status().as_u16(), head.fields().contains("date"))
        }
        ExchangeEvent::Trailers(version, fields) => {
            format!("{version} trailers {}", fields.contains("x-sum"))
        }
        ExchangeEvent::Redirected(redirect, follow) => {
            assert_eq!(redirect.count(), 1);
            format!("redirected: {follow:?}")
        }
        ExchangeEvent::Answered(response) => format!("answered {}", response.status().as_u16()),
        ExchangeEvent::Failed(error) => {
            assert!(error.to_string().starts_with("GET http"), "{error}");
            format!("failed: {:?}", error.phase())
        }
        other => panic!("{other:?}"),
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    match exchange.request().path().split('?').next().unwrap_or_default() {
        "/hint" => {
            exchange.interim(Status::EARLY_HINTS)?;
            exchange.respond(Status::OK).send(b"").await
        }
        "/busy" => exchange.respond(Status::SERVICE_UNAVAILABLE).send(b"").await,
        "/later" => {
            exchange.respond(Status::SERVICE_UNAVAILABLE).header("retry-after", "3600").send(b"").await
        }
        path @ ("/trailing" | "/trailing-away") => {
            let is_away = path == "/trailing-away";
            let reply = exchange.respond(if is_away { Status::FOUND } else { Status::SERVICE_UNAVAILABLE });
            let mut writer = reply.header("location", "/").stream().await?;
            writer.write(b"content").await?;
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "7")?;
            writer.finish_with(&trailers).await
        }
        "/away" => exchange.respond(Status::FOUND).header("location", "/").send(b"").await,
        _ => exchange.respond(Status::OK).send(b"").await,
    }
}

#[tokio::test]
async fn each_step_is_told_in_its_order() {
    let url = serve(answer).await;
    for version in [Version::Http1, Version::Http2] {
        let lines = Lines::default();
        let is_http2 = version == Version::Http2;
        let client = lines.watching(Client::builder()).http2_prior_knowledge(is_http2).build().unwrap();
        let asked = |method: &str, path: &str| match version {
            Version::Http1 => format!("{method} {path} HTTP/1.1"),
            _ => format!(":method: {method}, :path: {path}"),
        };
        let fine = format!("{version} 200 true");
        let mut response = client.get(&format!("{url}/hint")).send().await.unwrap();
        let _ = response.bytes_max(0).await.unwrap();
        let expected =
            ["connecting", "connected anew", &asked("GET", "/hint"), "interim 103", &fine, "answered 200"];
        assert_eq!(lines.take(), expected);

        // Redirects are exchanges of their own, and so is what is sent again.
        let mut response = client.post(&format!("{url}/away")).send_body(b"content").await.unwrap();
        let _ = response.bytes_max(0).await.unwrap();
        let found = format!("{version} 302 true");
        let (first, second) = (asked("POST", "/away"), asked("GET", "/"));
        let led = ["connected again", &first, &found, "redirected: Yes"];
        let followed = ["connected again", &second, &fine, "answered 200"];
        assert_eq!(lines.take(), [led, followed].concat());

        // The same of a call that is opened, and of a request that is prepared.
        let (writer, pending) = client.post(&format!("{url}/open")).open().await.unwrap();
        writer.finish().await.unwrap();
        let mut response = pending.response().await.unwrap();
        let _ = response.bytes_max(0).await.unwrap();
        assert_eq!(lines.take(), ["connected again", &asked("POST", "/open"), &fine, "answered 200"]);
        let prepared =
            client.prepare(alula::Method::Get, &format!("{url}/prepared")).unwrap().build().unwrap();
        let mut response = client.call(&prepared).send().await.unwrap();
        let _ = response.bytes_max(0).await.unwrap();
        assert_eq!(lines.take(), ["connected again", &asked("GET", "/prepared"), &fine, "answered 200"]);
    }
}

#[tokio::test]
async fn a_connection_that_cannot_be_opened_was_tried() {
    let lines = Lines::default();
    let client = lines.watching(Client::builder()).build().unwrap();
    client.get("http://127.0.0.1:1/").send().await.unwrap_err();
    assert_eq!(lines.take(), ["connecting", "not connected: ConnectionRefused", "failed: Connect"]);
    let client = lines.watching(Client::builder().retries(Retries::new(2))).build().unwrap();
    client.get("http://127.0.0.1:1/").send().await.unwrap_err();
    let tried = ["connecting", "not connected: ConnectionRefused"];
    let spent = "it was tried as often as is allowed: Connect";
    assert_eq!(
        lines.take(),
        [&tried[..], &["again, since Connect"], &tried, &[spent, "failed: Connect"]].concat()
    );
    let named = Client::builder().resolve("a.example", 1, ["127.0.0.1:1".parse().unwrap()]);
    lines.watching(named).build().unwrap().get("http://a.example:1/").send().await.unwrap_err();
    assert_eq!(lines.take()[0], "a.example has 1");
}

/// A server that takes connections and closes each once a request has come.
async fn closing() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut [0; 4096]).await;
        }
    });
    url
}

/// Without `Retries` nothing told of a failure: the events ended with the request.
#[tokio::test]
async fn a_failure_is_told_once_whoever_is_told_of_it() {
    let url = closing().await;
    let lines = Lines::default();
    let client = lines.watching(Client::builder()).build().unwrap();
    client.get(&url).send().await.unwrap_err();
    let expected = ["connecting", "connected anew", "GET / HTTP/1.1", "failed: Head"];
    assert_eq!(lines.take(), expected);
    let (writer, pending) = client.get(&url).open().await.unwrap();
    writer.finish().await.unwrap();
    pending.response().await.unwrap_err();
    assert_eq!(lines.take(), expected);
    client.get("http://127.0.0.1:1/").open().await.err().unwrap();
    assert_eq!(lines.take(), ["connecting", "not connected: ConnectionRefused", "failed: Connect"]);
    // A mistake of the caller is a failure as well, and so is a redirect that is not followed.
    client.get(&url).header("a b", "").send().await.unwrap_err();
    assert_eq!(lines.take(), ["failed: Build"]);
    let away = format!("{}/away", serve(answer).await);
    let client = lines.watching(Client::builder()).on_redirect(|_| Follow::Error).build().unwrap();
    client.get(&away).send().await.unwrap_err();
    assert!(lines.take().ends_with(&["redirected: Error".to_owned(), "failed: Head".to_owned()]));
}

/// An address that did not answer in time was no `NotConnected`: whoever watched saw it being tried, and no
/// more.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_that_does_not_answer_in_time_is_not_connected() {
    // Its queue is full: what else comes is dropped.
    let full = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    full.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    full.listen(0).unwrap();
    let address = full.local_addr().unwrap().as_socket().unwrap();
    let _waiting: Vec<_> =
        (0..3).map(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50))).collect();
    let lines = Lines::default();
    let builder = Client::builder().connect_timeout(Duration::from_millis(100));
    let client = lines.watching(builder).build().unwrap();
    let error = client.get(&format!("http://{address}/")).send().await.unwrap_err();
    assert!(error.is_timeout() && error.is_connect(), "{error}");
    assert_eq!(lines.take(), ["connecting", "not connected: TimedOut", "failed: Connect"]);
}

#[tokio::test]
async fn requests_that_are_sent_again_are_told_of_and_those_that_are_not() {
    let lines = Lines::default();
    let retries = Retries::new(2).backoff(Duration::ZERO, Duration::ZERO);
    let client = lines.watching(Client::builder().retries(retries)).build().unwrap();
    let url = serve(answer).await;
    let setbacks = |lines: Vec<String>| -> Vec<String> {
        lines
            .into_iter()
            .filter(|line| line.contains("503 ") || line.ends_with("server answered 503"))
            .collect()
    };
    client.get(&format!("{url}/busy")).send().await.unwrap();
    let spent = "it was tried as often as is allowed: the server answered 503";
    let (busy, again) = ("HTTP/1.1 503 true", "again, since the server answered 503");
    assert_eq!(setbacks(lines.take()), [busy, again, busy, spent]);
    client.post(&format!("{url}/busy")).send().await.unwrap();
    let unsafe_again =
        "the server may have acted on it, and its method is not idempotent: the server answered 503";
    assert_eq!(setbacks(lines.take()), [busy, unsafe_again]);
    client.get(&format!("{url}/later")).send().await.unwrap();
    let later = "the server asks for a longer wait than is allowed: the server answered 503";
    assert_eq!(setbacks(lines.take()), [busy, later]);
}

#[tokio::test]
async fn trailers_are_told_of_responses_that_the_client_reads_itself() {
    let url = serve(answer).await;
    for is_http2 in [false, true] {
        let retries = Retries::new(2).backoff(Duration::from_millis(1), Duration::from_millis(1));
        let lines = Lines::default();
        let builder = lines.watching(Client::builder()).http2_prior_knowledge(is_http2).retries(retries);
        let client = builder.build().unwrap();
        let version = if is_http2 { Version::Http2 } else { Version::Http1 };
        let told = |lines: Vec<String>| lines.iter().filter(|line| line.contains("trailers")).count();
        let mut response = client.get(&format!("{url}/trailing-away")).send().await.unwrap();
        let _ = response.bytes().await.unwrap();
        let all = lines.take();
        assert!(all.contains(&format!("{version} trailers true")), "{all:?}");
        assert_eq!(told(all), 1);
        // Of the last response the caller reads them.
        let mut busy = client.get(&format!("{url}/trailing")).send().await.unwrap();
        assert!(busy.trailers().await.unwrap().is_some());
        assert_eq!(told(lines.take()), 1);
    }
}

#[test]
fn what_is_told_shows_no_values() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shown = Arc::new(Mutex::new(String::new()));
    let shows = shown.clone();
    let client = Client::builder().observe(move |event: &ExchangeEvent<'_>| {
        if let ExchangeEvent::Request(_) = event {
            *shows.lock().unwrap() = format!("{event:?}");
        }
    });
    let client = client.build().unwrap();
    runtime.block_on(async {
        let url = serve(answer).await;
        client.get(&url).header("x-key", "s3cret").header("authorization", "s3cret").send().await.unwrap();
    });
    let shown = shown.lock().unwrap();
    assert!(shown.contains("Authorization") && !shown.contains("s3cret"), "{shown}");
}

#[cfg(feature = "blocking")]
#[test]
fn calls_that_wait_are_told_of_too() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = runtime.block_on(serve(answer));
    let lines = Lines::default();
    let client = lines.watching(Client::builder()).build_blocking().unwrap();
    client.get(&format!("{url}/hint")).send().unwrap();
    let ways = |steps: &[&'static str]| {
        [steps, &["GET /hint HTTP/1.1", "interim 103", "HTTP/1.1 200 true", "answered 200"]].concat()
    };
    assert_eq!(lines.take(), ways(&["connecting", "connected anew"]));
    // The observer of one call, of a client that has none.
    let client = Client::builder().build_blocking().unwrap();
    client.get(&format!("{url}/hint")).observe(lines.clone()).send().unwrap();
    assert_eq!(lines.take(), ways(&["connecting", "connected anew"]));
    client.get(&format!("{url}/hint")).send().unwrap();
    assert!(lines.take().is_empty());
}

/// An observer of a call is told of that call alone, whatever others do on the same connection, and also
/// where nothing was kept of the heads before.
#[tokio::test]
async fn an_observer_is_told_of_its_call_alone() {
    let url = serve(answer).await;
    for is_http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(is_http2).build().unwrap();
        let asked = |method: &str, path: &str| match is_http2 {
            false => format!("{method} {path} HTTP/1.1"),
            true => format!(":method: {method}, :path: {path}"),
        };
        let version = if is_http2 { Version::Http2 } else { Version::Http1 };
        let fine = format!("{version} 200 true");
        let read = async |call: Call<'_>| {
            let mut response = call.send().await.unwrap();
            let _ = response.bytes_max(0).await.unwrap();
        };
        // It opens the connection, and the encoder learns the head.
        read(client.get(format!("{url}/first"))).await;
        let lines = Lines::default();
        for path in ["/hint", "/hint"] {
            read(lines.watching_call(client.get(format!("{url}{path}")))).await;
            let expected = ["connected again", &asked("GET", path), "interim 103", &fine, "answered 200"];
            assert_eq!(lines.take(), expected);
            read(client.get(format!("{url}{path}"))).await;
        }
        assert!(lines.take().is_empty());
        // Many at once: each has the lines of its own.
        let calls = (0..20).map(|number| {
            let (lines, path) = (Lines::default(), format!("/away?{number}"));
            let call = lines.watching_call(client.post(format!("{url}{path}")));
            tokio::spawn(async move {
                let sent = call.send_body("content").await.map(drop);
                (path, sent, lines)
            })
        });
        for call in calls.collect::<Vec<_>>() {
            let (path, sent, lines) = call.await.unwrap();
            sent.unwrap();
            let lines = lines.take();
            let is_told = |line: &str| lines.iter().filter(|told| *told == line).count();
            let found = format!("{version} 302 true");
            for line in [&*asked("POST", &path), &*asked("GET", "/"), &*found, &*fine, "redirected: Yes"] {
                assert_eq!(is_told(line), 1, "{line} in {lines:?}");
            }
            assert_eq!(lines.last().unwrap(), "answered 200");
        }
        // Opened, held back, and prepared.
        for method in ["POST", "GET"] {
            let call = lines.watching_call(client.request(method, format!("{url}/open")));
            let (writer, pending) = call.open().await.unwrap();
            writer.finish().await.unwrap();
            let _ = pending.response().await.unwrap().bytes_max(0).await.unwrap();
            assert!(lines.take().ends_with(&[asked(method, "/open"), fine.clone(), "answered 200".into()]));
        }
        let prepared = client.prepare("GET", format!("{url}/prepared")).unwrap().build().unwrap();
        read(lines.watching_call(client.call(&prepared))).await;
        assert!(lines.take().contains(&asked("GET", "/prepared")));
    }
}

#[tokio::test]
async fn the_observer_of_the_client_is_told_before_that_of_the_call() {
    let told = Lines::default();
    let named = |name: &'static str| {
        let told = told.clone();
        move |event: &ExchangeEvent<'_>| {
            if let ExchangeEvent::Request(_) | ExchangeEvent::Answered(_) | ExchangeEvent::Failed(_) = event {
                told.0.lock().unwrap().push(name.to_owned());
            }
        }
    };
    let builder = Client::builder().observe(named("client")).observe(named("second of client"));
    let client = builder.build().unwrap();
    let url = serve(answer).await;
    client.get(&url).observe(named("call")).observe(named("second of call")).send().await.unwrap();
    let order = ["client", "second of client", "call", "second of call"];
    assert_eq!(told.take(), [order, order].concat());
    client.get(&url).send().await.unwrap();
    assert_eq!(told.take(), [&order[..2], &order[..2]].concat());
    client.get("http://127.0.0.1:1/").observe(named("call")).send().await.unwrap_err();
    assert_eq!(told.take(), order[..3]);
}

#[tokio::test]
async fn an_observer_of_a_call_is_told_of_its_setbacks() {
    let lines = Lines::default();
    let client = Client::new().unwrap();
    let retries = || Retries::new(2).backoff(Duration::ZERO, Duration::ZERO);
    let url = serve(answer).await;
    let call = client.get(format!("{url}/busy")).retries(retries());
    lines.watching_call(call).send().await.unwrap();
    let lines_of_call = lines.take();
    assert!(lines_of_call.contains(&"again, since the server answered 503".to_owned()), "{lines_of_call:?}");
    let call = client.get("http://127.0.0.1:1/").retries(retries());
    lines.watching_call(call).send().await.unwrap_err();
    let tried = ["connecting", "not connected: ConnectionRefused"];
    let spent = "it was tried as often as is allowed: Connect";
    let expected = [&tried[..], &["again, since Connect"], &tried, &[spent, "failed: Connect"]].concat();
    assert_eq!(lines.take(), expected);
    // Without an observer nobody is told.
    client.get("http://127.0.0.1:1/").send().await.unwrap_err();
    assert!(lines.take().is_empty());
}
