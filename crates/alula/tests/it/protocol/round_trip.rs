//! Client and server of the facade against each other over loopback, in clear text and over TLS.

use std::{net::SocketAddr, time::Duration};

use alula::{
    Body, BodyWriter, Cause, Client, Error, Exchange, FieldSection, Identity, Limits, Method, Response,
    Retry, Sent, Server, Status, Stop,
};

/// A server on a free port that is stopped when it is dropped.
struct Running {
    address: SocketAddr,
    stop: Stop,
    certificate: Option<String>,
}

impl Running {
    async fn start(with_tls: bool) -> Self {
        let mut builder = Server::builder();
        let mut certificate = None;
        if with_tls {
            let identity = Identity::self_signed(["localhost"]).unwrap();
            certificate = identity.certificate_pem().map(str::to_owned);
            builder = builder.identity(identity);
        }
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        tokio::spawn(server.serve(answer));
        Self { address, stop, certificate }
    }

    fn client(&self) -> Client {
        let mut builder = Client::builder().http2_prior_knowledge(true);
        if let Some(pem) = &self.certificate {
            builder = builder.add_roots_pem(pem.as_bytes()).unwrap();
        }
        builder.build().unwrap()
    }

    fn url(&self, path: &str) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}{path}", self.address.port())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    match path {
        "/hello" => {
            exchange.respond(Status::OK).header("content-type", "text/plain").send(b"Hello, World!").await
        }
        "/empty" => exchange.respond(Status::NO_CONTENT).send(b"").await,
        "/big" => big(exchange, query.parse().unwrap()).await,
        "/echo" => echo(exchange).await,
        "/sum" => sum(exchange).await,
        "/trailers" => trailers(exchange).await,
        "/interim" => interim(exchange).await,
        "/never" => std::future::pending().await,
        "/large-head" => exchange.respond(Status::OK).header("x-large", vec![b'x'; 20_000]).send(b"").await,
        "/huge-head" => exchange.respond(Status::OK).header("x-large", vec![b'x'; 300_000]).send(b"").await,
        "/panic" => panic!("a handler that panics"),
        "/drop" => Err(Error::usage("a handler that gives up")),
        "/half" => half(exchange).await,
        _ => exchange.respond(Status::NOT_FOUND).send(b"").await,
    }
}

async fn big(exchange: Exchange, bytes: usize) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    let chunk: Vec<u8> = (0..16_384).map(|i| i as u8).collect();
    let mut left = bytes;
    while left > 0 {
        let now = left.min(chunk.len());
        writer.write(&chunk[..now]).await?;
        left -= now;
    }
    writer.finish().await
}

async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (_request, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    match body.trailers().await? {
        Some(trailers) => writer.finish_with(trailers).await,
        None => writer.finish().await,
    }
}

async fn sum(mut exchange: Exchange) -> Result<Sent, Error> {
    let mut sum = 0;
    while let Some(chunk) = exchange.body().chunk().await? {
        sum += chunk.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }
    exchange.respond(Status::OK).send(sum.to_string().as_bytes()).await
}

async fn trailers(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    writer.write(b"content").await?;
    let mut trailers = FieldSection::new();
    trailers.append("x-checksum", "42")?;
    writer.finish_with(&trailers).await
}

async fn interim(exchange: Exchange) -> Result<Sent, Error> {
    let (_request, _body, responder) = exchange.split();
    responder.interim(Status::new(103).unwrap())?;
    responder.respond(Status::OK).send(b"after 103").await
}

async fn half(exchange: Exchange) -> Result<Sent, Error> {
    let mut writer = exchange.respond(Status::OK).stream().await?;
    writer.write(b"half").await?;
    Err(Error::usage("gives up half-way"))
}

async fn content(mut response: Response) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    response.body().copy_to(&mut all).await?;
    Ok(all)
}

/// Runs a test in clear text and over TLS, each bounded in time.
async fn both(test: impl AsyncFn(Running)) {
    for with_tls in [false, true] {
        let running = Running::start(with_tls).await;
        tokio::time::timeout(Duration::from_secs(20), test(running)).await.expect("the test ends in time");
    }
}

#[tokio::test]
async fn gets_content_and_fields() {
    both(async |server| {
        let response = server.client().get(&server.url("/hello")).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        assert_eq!(response.headers().get("content-type"), Some(&b"text/plain"[..]));
        assert_eq!(response.headers().get("content-length"), Some(&b"13"[..]));
        assert!(response.headers().contains("date"));
        assert_eq!(content(response).await.unwrap(), b"Hello, World!");
    })
    .await;
}

#[tokio::test]
async fn answers_head_and_no_content() {
    both(async |server| {
        let client = server.client();
        let response = client.head(&server.url("/hello")).send().await.unwrap();
        assert_eq!(response.headers().get("content-length"), Some(&b"13"[..]));
        assert_eq!(content(response).await.unwrap(), b"");
        let response = client.get(&server.url("/empty")).send().await.unwrap();
        assert_eq!(response.status(), Status::NO_CONTENT);
        assert!(!response.headers().contains("content-length"));
        assert_eq!(content(response).await.unwrap(), b"");
    })
    .await;
}

#[tokio::test]
async fn moves_large_bodies_through_the_windows() {
    both(async |server| {
        let response = server.client().get(&server.url("/big?10000000")).send().await.unwrap();
        let all = content(response).await.unwrap();
        assert_eq!(all.len(), 10_000_000);
        assert!(all.iter().enumerate().all(|(at, byte)| *byte == (at % 16_384) as u8));
    })
    .await;
}

#[tokio::test]
async fn sends_content_at_once_and_in_pieces() {
    both(async |server| {
        let client = server.client();
        let sent: Vec<u8> = (0..3_000_000u32).map(|i| (i / 7) as u8).collect();
        let response = client.post(&server.url("/sum")).send_body(&sent).await.unwrap();
        let sum: u64 = sent.iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!(content(response).await.unwrap(), sum.to_string().as_bytes());
        let (mut writer, pending) = client.put(&server.url("/echo")).open().await.unwrap();
        writer.write(b"one ").await.unwrap();
        let mut response = pending.response().await.unwrap();
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b"one "[..]));
        writer.write(b"two").await.unwrap();
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b"two"[..]));
        let mut trailers = FieldSection::new();
        trailers.append("x-end", "yes").unwrap();
        writer.finish_with(&trailers).await.unwrap();
        let got = response.body().trailers().await.unwrap().expect("trailers came back");
        assert_eq!(got.get("x-end"), Some(&b"yes"[..]));
    })
    .await;
}

#[tokio::test]
async fn receives_trailers_and_interim_responses() {
    both(async |server| {
        let client = server.client();
        let mut response = client.get(&server.url("/trailers")).send().await.unwrap();
        let got = response.body().trailers().await.unwrap().expect("trailers");
        assert_eq!(got.get("x-checksum"), Some(&b"42"[..]));
        let response = client.get(&server.url("/interim")).send().await.unwrap();
        assert_eq!(content(response).await.unwrap(), b"after 103");
    })
    .await;
}

#[tokio::test]
async fn many_calls_share_a_connection() {
    both(async |server| {
        let client = server.client();
        let calls: Vec<_> = (0..500)
            .map(|number| {
                let (client, url) =
                    (client.clone(), server.url(if number % 2 == 0 { "/hello" } else { "/big?70000" }));
                tokio::spawn(
                    async move { content(client.get(&url).send().await.unwrap()).await.unwrap().len() },
                )
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), if number % 2 == 0 { 13 } else { 70_000 });
        }
    })
    .await;
}

#[tokio::test]
async fn a_prepared_request_is_sent_with_what_changes() {
    both(async |server| {
        let client = server.client();
        let mut prepare =
            client.prepare(Method::Get, &server.url("/hello")).unwrap().header("accept", b"*/*");
        let id = prepare.hole("x-request-id").unwrap();
        let prepared = prepare.build().unwrap();
        for number in 0..20 {
            let value = format!("{number:016x}");
            let response = client.call(&prepared).set(id, value.as_bytes()).send().await.unwrap();
            assert_eq!(content(response).await.unwrap(), b"Hello, World!");
            let response = client.call(&prepared).path("/big?5").set(id, b"x").send().await.unwrap();
            assert_eq!(content(response).await.unwrap().len(), 5);
        }
        let error = client.call(&prepared).send().await.err().unwrap();
        assert_eq!(error.retry(), Retry::Pointless, "a hole that is not filled: {error}");
    })
    .await;
}

#[tokio::test]
async fn what_goes_wrong_is_told() {
    both(async |server| {
        let client = server.client();
        for path in ["/panic", "/drop"] {
            let response = client.get(&server.url(path)).send().await.unwrap();
            assert_eq!(response.status(), Status::INTERNAL_SERVER_ERROR, "{path}");
        }
        let response = client.get(&server.url("/half")).send().await.unwrap();
        let error = content(response).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Reset(_)), "{error}");
        let deadline = Duration::from_millis(50);
        let error = client.get(&server.url("/never")).timeout(deadline).send().await.err().unwrap();
        assert!(matches!(error.cause(), Cause::Timeout), "{error}");
        let response = client.get(&server.url("/hello")).send().await.unwrap();
        assert_eq!(content(response).await.unwrap().len(), 13, "the connection lives on");
    })
    .await;
}

#[tokio::test]
async fn a_mistake_of_the_caller_is_reported_when_sent() {
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    for url in ["not a url", "ftp://localhost/", "http://user:%ff@:80/"] {
        let error = client.get(url).send().await.err().unwrap();
        assert_eq!(error.retry(), Retry::Pointless, "{error}");
    }
    let server = Running::start(false).await;
    let url = server.url("/hello");
    let error = client.get(&url).header("bad name", "x").send().await.err().unwrap();
    assert!(error.to_string().contains("bad name"), "{error}");
    let error = client.get(&url).header("connection", "close").send().await.err().unwrap();
    assert_eq!(error.retry(), Retry::Pointless, "{error}");
    let error = client.get("http://127.0.0.1:1/").send().await.err().unwrap();
    assert_eq!(error.retry(), Retry::Safe, "{error}");
}

#[tokio::test]
async fn heads_that_are_too_large_end_one_stream_only() {
    both(async |server| {
        let client = server.client();
        let url = server.url("/hello");
        let response = client.get(&url).header("x-large", vec![b'x'; 15_000]).send().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        let large = client.get(&url).header("x-large", vec![b'x'; 20_000]).send().await;
        let error = large.expect_err("the client knows the server's limit");
        assert_eq!(error.retry(), Retry::Pointless, "{error}");
        let response = client.get(&server.url("/large-head")).send().await.unwrap();
        assert_eq!(response.status(), Status::OK, "a client takes larger heads than a server");
        let response = client.get(&server.url("/huge-head")).send().await.unwrap();
        assert_eq!(response.status(), Status::INTERNAL_SERVER_ERROR, "the server knows the client's limit");
        let response = client.get(&url).send().await.unwrap();
        assert_eq!(content(response).await.unwrap().len(), 13, "the connection lives on");
    })
    .await;
}

/// A future that was polled once and is then held without being polled must not hold up others: it may be the
/// one that was to read for all.
#[tokio::test]
async fn a_call_that_is_held_unpolled_holds_nobody_up() {
    both(async |server| {
        let client = server.client();
        let (held, other) = (server.url("/never"), server.url("/hello"));
        let mut stuck = Box::pin(client.get(&held).send());
        tokio::select! {
            biased;
            _ = &mut stuck => panic!("it never ends"),
            () = std::future::ready(()) => {}
        }
        for _ in 0..3 {
            let task = tokio::spawn({
                let (client, url) = (client.clone(), other.clone());
                async move { content(client.get(&url).send().await.unwrap()).await.unwrap() }
            });
            assert_eq!(task.await.unwrap(), b"Hello, World!");
        }
    })
    .await;
}

#[tokio::test]
async fn dropped_calls_and_bodies_give_their_streams_back() {
    both(async |server| {
        let client = server.client();
        for round in 0..400 {
            let url = server.url("/big?1000000");
            let mut response = client.get(&url).send().await.unwrap();
            if round % 2 == 0 {
                response.body().chunk().await.unwrap();
            }
            drop(response);
            let never = server.url("/never");
            let call = client.get(&never).send();
            let ended = tokio::time::timeout(Duration::from_millis(1), call).await;
            assert!(ended.is_err());
        }
        let response = client.get(&server.url("/big?1000000")).send().await.unwrap();
        assert_eq!(content(response).await.unwrap().len(), 1_000_000);
    })
    .await;
}

#[tokio::test]
async fn calls_beyond_the_peers_limit_wait_their_turn() {
    let server = Server::builder()
        .limits(Limits { streams: 3, ..Limits::default() })
        .bind("127.0.0.1:0")
        .await
        .unwrap();
    let (port, stop) = (server.address().unwrap().port(), server.stop_handle());
    let serving = tokio::spawn(server.serve(answer));
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let url = format!("http://127.0.0.1:{port}/big?200000");
    content(client.get(&url).send().await.unwrap()).await.unwrap();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move { content(client.get(&url).send().await.unwrap()).await.unwrap().len() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200_000);
    }
    stop.stop();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stopped_server_finishes_what_it_began() {
    both(async |server| {
        let client = server.client();
        let (mut writer, pending) = client.post(&server.url("/echo")).open().await.unwrap();
        writer.write(b"begun").await.unwrap();
        let mut response = pending.response().await.unwrap();
        server.stop.stop();
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b"begun"[..]));
        writer.write(b" and ended").await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(content(response).await.unwrap(), b" and ended");
        let error = client.get(&server.url("/hello")).send().await.err().unwrap();
        assert_eq!(error.retry(), Retry::Safe, "{error}");
    })
    .await;
}

#[test]
fn handles_can_be_sent_to_other_threads() {
    const fn is_send<T: Send + 'static>() {}
    is_send::<Body>();
    is_send::<BodyWriter>();
    is_send::<Response>();
    is_send::<Exchange>();
}

#[tokio::test]
async fn clear_text_can_be_switched_off() {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let pem = identity.certificate_pem().unwrap().to_owned();
    let server = Server::builder().identity(identity).clear_text(false).bind("127.0.0.1:0").await.unwrap();
    let (port, ledger, stop) = (server.address().unwrap().port(), server.ledger(), server.stop_handle());
    tokio::spawn(server.serve(answer));
    let client =
        Client::builder().http2_prior_knowledge(true).add_roots_pem(pem.as_bytes()).unwrap().build().unwrap();
    assert!(client.get(&format!("http://localhost:{port}/hello")).send().await.is_err());
    assert!(client.get(&format!("https://localhost:{port}/hello")).send().await.is_ok());
    assert!(ledger.count("CLEAR_TEXT") > 0);
    stop.stop();
}
