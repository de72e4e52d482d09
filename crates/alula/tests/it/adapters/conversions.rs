//! Alula in the types of others: requests of the `http` crate, services of `tower`, a router of axum as
//! handler.

use std::{convert::Infallible, net::SocketAddr, pin::Pin, task::Poll, time::Duration};

use alula::{AllowSlowPeer, Client, Limits, Server, Status, adapters::ExecuteError, from_tower};
use axum::{Router, body::Body as AxumBody, extract::Path, response::IntoResponse, routing};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Empty, Full};
use tokio::sync::mpsc;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::support::{clients, listen, serve};

/// Starts a server that answers with a router of axum.
async fn start() -> SocketAddr {
    let router = Router::new()
        .route(
            "/hello/{name}",
            routing::get(|Path(name): Path<String>| async move { format!("Hello, {name}!") }),
        )
        .route("/echo", routing::post(echo))
        .route("/count", routing::post(|content: Bytes| async move { content.len().to_string() }))
        .route("/uri", routing::get(|request: Request<AxumBody>| async move { request.uri().to_string() }))
        .route("/closing", routing::get(|| async { ([(header::CONNECTION, "close")], "last") }))
        .route("/large", routing::get(|| async { vec![b'x'; 300_000] }));
    listen(Server::builder(), from_tower(router)).await
}

/// Sends the content back as it comes, its trailers as well.
async fn echo(request: Request<AxumBody>) -> impl IntoResponse {
    Response::new(request.into_body())
}

async fn text<B: Body<Error: std::fmt::Debug>>(response: Response<B>) -> String {
    let content = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(content.to_vec()).unwrap()
}

#[tokio::test]
async fn a_router_answers_and_requests_of_the_http_crate_are_sent() {
    let address = start().await;
    for (client, version) in clients().iter().zip([http::Version::HTTP_11, http::Version::HTTP_2]) {
        let url = |path: &str| format!("http://{address}{path}");
        let get = |path: &str| Request::get(url(path)).body(Empty::<Bytes>::new()).unwrap();
        let response = client.execute(get("/hello/World")).await.unwrap();
        assert_eq!((response.status(), response.version()), (StatusCode::OK, version));
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(response.body().size_hint().exact(), Some(13));
        assert_eq!(text(response).await, "Hello, World!");

        // An empty path before a query is `/`.
        assert_eq!(client.execute(get("?a")).await.unwrap().status(), StatusCode::NOT_FOUND);
        let response = client.execute(get("/nowhere")).await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert!(response.body().is_end_stream());
        let uri = if version == http::Version::HTTP_11 { "/uri".into() } else { url("/uri") };
        assert_eq!(text(client.execute(get("/uri")).await.unwrap()).await, uri);
        assert_eq!(text(client.execute(get("/closing")).await.unwrap()).await, "last");
        assert_eq!(text(client.execute(get("/large")).await.unwrap()).await.len(), 300_000);

        let head = Request::head(url("/hello/World")).body(Empty::<Bytes>::new()).unwrap();
        let response = client.execute(head).await.unwrap();
        assert_eq!(response.headers()[header::CONTENT_LENGTH], "13");
        assert_eq!((response.body().size_hint().exact(), &*text(response).await), (Some(0), ""));
    }
}

#[tokio::test]
async fn content_goes_whole_or_as_it_comes() {
    let address = start().await;
    let url = |path: &str| format!("http://{address}{path}");
    for client in clients() {
        for bytes in [1, 60_000, 200_000] {
            let content = Full::new(Bytes::from(vec![b'y'; bytes]));
            let response = client.execute(Request::post(url("/count")).body(content).unwrap()).await.unwrap();
            assert_eq!(text(response).await, bytes.to_string());
        }
        // Without a length, by two frames and trailers.
        for states_length in [false, true] {
            let frames = Frames { left: 3, states_length };
            let request = Request::post(url("/echo")).header("trailer", "x-sum");
            let response = client.execute(request.body(frames).unwrap()).await.unwrap();
            let collected = response.into_body().collect().await.unwrap();
            assert_eq!(collected.trailers(), Some(&trailers()));
            assert_eq!(collected.to_bytes(), "abcabc");
        }
    }
}

fn trailers() -> HeaderMap {
    HeaderMap::from_iter([(header::HeaderName::from_static("x-sum"), HeaderValue::from_static("2"))])
}

/// Six bytes by three frames, of which the last is trailers.
struct Frames {
    left: u8,
    states_length: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let left = self.left;
        self.left = left.saturating_sub(1);
        Poll::Ready(match left {
            0 => None,
            1 => Some(Ok(Frame::trailers(trailers()))),
            _ => Some(Ok(Frame::data("abc".into()))),
        })
    }

    fn size_hint(&self) -> SizeHint {
        if self.states_length { SizeHint::with_exact(6) } else { SizeHint::default() }
    }
}

/// The response comes first, then each answer to what was sent after it.
#[tokio::test]
async fn both_directions_go_on_at_once() {
    let address = start().await;
    for client in clients() {
        let (tell, told) = mpsc::channel(1);
        let said = Heard(told);
        let response = client.execute(Request::post(format!("http://{address}/echo")).body(said).unwrap());
        let mut content =
            tokio::time::timeout(Duration::from_secs(30), response).await.unwrap().unwrap().into_body();
        for word in ["one", "two", "three"] {
            tell.send(Ok(word)).await.unwrap();
            let answer = tokio::time::timeout(Duration::from_secs(30), content.frame()).await.unwrap();
            assert_eq!(answer.unwrap().unwrap().into_data().unwrap(), word);
        }
        tell.send(Err("out of words")).await.unwrap();
        let error = content.frame().await.unwrap().unwrap_err();
        assert!(matches!(error, ExecuteError::Content(inner) if inner.to_string() == "out of words"));
        assert!(content.frame().await.is_none());
    }
}

/// The service begins its answer before it reads the content, which the client keeps back until it is asked
/// for it.
#[tokio::test]
async fn an_answer_that_is_begun_at_once_asks_for_the_content() {
    let address = start().await;
    let url = format!("http://{address}/echo");
    for (client, bytes) in clients().iter().flat_map(|client| [(client, 1), (client, 100_000)]) {
        let content = vec![b'y'; bytes];
        let sending = async {
            let call = client.post(&url).header("expect", "100-continue");
            let echoed = call.send_body(&content).await.unwrap().bytes().await.unwrap();
            assert_eq!(echoed, content);
            let request = Request::post(&url).header("expect", "100-continue");
            let request = request.body(Full::new(Bytes::from(content.clone()))).unwrap();
            assert_eq!(text(client.execute(request).await.unwrap()).await.len(), bytes);
        };
        tokio::time::timeout(Duration::from_secs(30), sending).await.expect("the content is asked for");
    }
}

/// What a request says of itself lifts no limit; what a service answers does, once it has answered.
#[tokio::test]
async fn a_service_says_whether_its_peer_may_be_slow() {
    let stall_timeout = Duration::from_millis(200);
    let limits = Limits { stall_timeout, body_rate_min: 0, ..Limits::default() };
    let echoes = |content_type: &'static str, marked: bool| {
        routing::post(async move |request: Request<AxumBody>| {
            let mut response = Response::new(request.into_body());
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
            if marked {
                response.extensions_mut().insert(AllowSlowPeer);
            }
            response
        })
    };
    let router = Router::new()
        .route("/grpc", echoes("application/grpc+proto", false))
        .route("/marked", echoes("text/plain", true))
        .route("/plain", echoes("application/grpcx", false))
        .route("/read", routing::post(async |content: Bytes| content));
    let address = listen(Server::builder().limits(limits), from_tower(router)).await;
    for (client, path) in
        clients().iter().flat_map(|client| ["grpc", "marked", "plain", "read"].map(|path| (client, path)))
    {
        let url = format!("http://{address}/{path}");
        let call = client.post(&url).header("content-type", "application/grpc").header("te", "trailers");
        let (mut writer, pending) = call.open().await.unwrap();
        writer.write(b"one").await.unwrap();
        tokio::time::sleep(4 * stall_timeout).await;
        let sent = async {
            writer.write(b"two").await?;
            writer.finish().await?;
            pending.response().await?.error_for_status()?.bytes().await
        };
        let outcome = tokio::time::timeout(Duration::from_secs(30), sent).await.unwrap();
        match path {
            "grpc" | "marked" => assert_eq!(outcome.unwrap(), &b"onetwo"[..], "{path}"),
            _ => assert!(outcome.is_err(), "{path}: the peer was slow"),
        }
    }
}

/// Content that is told.
struct Heard(mpsc::Receiver<Result<&'static str, &'static str>>);

impl Body for Heard {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        self.0.poll_recv(cx).map(|word| word.map(|word| word.map(|word| Frame::data(word.into()))))
    }
}

#[tokio::test]
async fn the_client_is_a_service_under_middleware() {
    let address = start().await;
    for client in clients() {
        let mut service = ServiceBuilder::new()
            .concurrency_limit(1)
            .map_response(|response: Response<_>| response.status().as_u16())
            .service(client);
        let request =
            Request::get(format!("http://{address}/hello/you")).body(Empty::<Bytes>::new()).unwrap();
        let status =
            ServiceExt::<Request<Empty<Bytes>>>::ready(&mut service).await.unwrap().call(request).await;
        assert_eq!(status.unwrap(), 200);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_or_answered_is_told() {
    let relative = Request::get("/somewhere").body(Empty::<Bytes>::new()).unwrap();
    let error = clients()[0].execute(relative).await.err().unwrap();
    assert!(error.to_string().contains("scheme"), "{error}");

    let fails = tower::service_fn(|_| async { Err::<Response<String>, _>("no answer") });
    let url = serve(from_tower(fails)).await + "/";
    for client in clients() {
        assert_eq!(client.get(&url).send().await.unwrap().status(), Status::INTERNAL_SERVER_ERROR);
    }
}

/// There are more fields than a `HeaderMap` holds: a service that saw none of them would take the request for
/// another.
#[tokio::test]
async fn fields_that_no_map_takes_are_refused_and_not_dropped() {
    let limits = Limits {
        fields: 100_000,
        head_bytes: 4 << 20,
        field_section_bytes: 4 << 20,
        continuation_frames: 100,
        ..Limits::default()
    };
    let router =
        Router::new().route("/", routing::get(|headers: HeaderMap| async move { headers.len().to_string() }));
    let url = format!(
        "http://{}/",
        listen(Server::builder().limits(limits.clone()).on_error(|_| {}), from_tower(router)).await
    );
    for http2 in [false, true] {
        let client = Client::builder().limits(limits.clone()).http2_prior_knowledge(http2).build().unwrap();
        let mut statuses = Vec::new();
        for fields in [1_000, 30_000] {
            let call = (0..fields).fold(client.get(&url), |call, at| call.header(&*format!("x-{at}"), ""));
            statuses.push(call.send().await.unwrap().status().as_u16());
        }
        assert_eq!(statuses, [200, 431], "HTTP/2: {http2}");
    }
}
