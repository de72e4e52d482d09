//! Counts the allocations of a request in the types of the `http` crate and of `tower`; one without them
//! allocates nothing.
//!
//! These are the figures that the documentation of `alula::adapters` and `alula::from_tower` gives reasons
//! for.

use std::convert::Infallible;

use alula::{Body, Client, Exchange, Sent, Status, from_tower};
use alula_tally::Side;
use alula_testkit::lists;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, header::HeaderName};
use http_body_util::{BodyExt, Full};
use tower::Service;

use crate::support::{least, on_a_thread, serve};

const REQUESTS: usize = 300;

static CONTENT: &[u8] = &[b'c'; 1024];

/// A response of ten fields: 1 for the URL, 2 for the map, 10 for its values, 1 for a name that is not well
/// known, 1 for the chunk.
const EXECUTE: i64 = 15;
/// And its future.
const SERVICE: i64 = EXECUTE + 1;
/// A request of eleven fields: 2 for the map, 11 for its values, 3 for names that are not well known, 3 for
/// the extension, 1 for the chunk; over HTTP/1.1 1 for the URI and 1 for the host, over HTTP/2 2 for the URI.
const FROM_TOWER: i64 = 22;

pub(crate) fn adapters_cost_what_is_said_and_no_more() {
    assert!(alula_tally::is_installed());
    let own = serve(|server| server.serve(answer));
    let tower = serve(|server| server.serve(from_tower(tower::service_fn(respond))));
    for http2 in [true, false] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        let costs = on_a_thread(Side::CLIENT, async {
            // What the test itself makes, a request or a response with ten fields, is not the adapters' cost.
            let [request, _] = least(REQUESTS, async || drop(request(&own))).await;
            let [response, _] = least(REQUESTS, async || drop(response())).await;
            let mut costs = [
                least(REQUESTS, async || send(&client, &own).await).await,
                least(REQUESTS, async || execute(&client, &own).await).await,
                least(REQUESTS, async || call(&client, &own).await).await,
                least(REQUESTS, async || send(&client, &tower).await).await,
            ];
            costs[1][0] -= request;
            costs[2][0] -= request;
            costs[3][1] -= response;
            costs
        });
        println!("http2 {http2}: [client, server] of send, execute, call, send to a service: {costs:?}");
        assert_eq!(costs, [[0, 0], [EXECUTE, 0], [SERVICE, 0], [0, FROM_TOWER]], "http2 {http2}");
    }
}

async fn send(client: &Client, url: &str) {
    let call = lists::REQUEST.iter().fold(client.post(url), |call, (name, value)| call.header(*name, *value));
    let mut response = call.send_body(CONTENT).await.unwrap();
    let bytes = response.body().copy_to(&mut tokio::io::sink()).await.unwrap();
    assert_eq!((response.status(), bytes), (Status::OK, 1024));
}

async fn execute(client: &Client, url: &str) {
    check(client.execute(request(url)).await.unwrap()).await;
}

async fn call(client: &Client, url: &str) {
    check(Service::call(&mut client.clone(), request(url)).await.unwrap()).await;
}

async fn check(mut response: Response<alula::adapters::ResponseContent>) {
    assert_eq!((response.status(), response.headers().len()), (http::StatusCode::OK, 10));
    while let Some(frame) = response.body_mut().frame().await {
        assert_eq!(frame.unwrap().into_data().unwrap(), CONTENT);
    }
}

fn request(url: &str) -> Request<Full<Bytes>> {
    let mut request = Request::post(url).body(Full::new(Bytes::from_static(CONTENT))).unwrap();
    *request.headers_mut() = map(&lists::REQUEST);
    request
}

fn map(fields: &'static [(&'static str, &'static str)]) -> HeaderMap {
    let field = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    fields.iter().map(field).collect()
}

async fn respond(mut request: Request<Body>) -> Result<Response<Full<Bytes>>, Infallible> {
    while let Some(frame) = request.body_mut().frame().await {
        frame.unwrap();
    }
    Ok(response())
}

fn response() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(CONTENT)));
    *response.headers_mut() = map(&lists::RESPONSE);
    response
}

async fn answer(mut exchange: Exchange) -> Result<Sent, alula::Error> {
    while exchange.body().chunk().await?.is_some() {}
    let reply = lists::RESPONSE
        .iter()
        .fold(exchange.respond(Status::OK), |reply, (name, value)| reply.header(*name, *value));
    reply.send(CONTENT).await
}
