//! Tunnels by extended CONNECT (RFC 8441) through the whole stack, over loopback.

use std::net::SocketAddr;

use alula::{Cause, Client, Error, Exchange, Refusal, Sent, Server, Status, Stop, h2};

use crate::support::{count, within};

/// A server on a free port that is stopped when it is dropped.
struct Running {
    address: SocketAddr,
    stop: Stop,
}

impl Running {
    async fn start(extended_connect: bool) -> Self {
        let server = Server::builder().extended_connect(extended_connect).bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        tokio::spawn(server.serve(answer));
        Self { address, stop }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Refuses other protocols, resets where it is asked to, and else sends back what it gets.
async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let (request, mut body, responder) = exchange.split();
    if request.protocol() != Some("echo") {
        return responder.respond(Status::NOT_IMPLEMENTED).send(request.path().as_bytes()).await;
    }
    assert_eq!((request.method(), request.scheme()), ("CONNECT", Some("http")));
    let mut down = responder.respond(Status::OK).stream().await?;
    if request.path() == "/reset" {
        drop(down);
        return Err(Error::usage("a tunnel that is dropped"));
    }
    while let Some(chunk) = body.chunk().await? {
        down.write(chunk).await?;
    }
    down.finish_content(b" and that was all").await
}

#[tokio::test]
async fn bytes_go_both_ways_until_both_sides_have_ended() {
    let server = Running::start(true).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    within(async {
        let url = server.url("/chat?room=1");
        // The first call of the connection: the server's settings are waited for.
        let (mut up, pending) = client.request("CONNECT", &url).protocol("echo").open().await.unwrap();
        let mut response = pending.response().await.unwrap();
        assert_eq!(response.status(), Status::OK);
        for text in ["one", "two", "three"] {
            up.write(text.as_bytes()).await.unwrap();
            assert_eq!(response.body().chunk().await.unwrap(), Some(text.as_bytes()));
        }
        up.finish().await.unwrap();
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b" and that was all"[..]));
        assert_eq!(response.body().chunk().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_tunnel_carries_more_than_its_windows() {
    let server = Running::start(true).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    within(async {
        let url = server.url("/");
        let (mut up, pending) = client.request("CONNECT", &url).protocol("echo").open().await.unwrap();
        let mut response = pending.response().await.unwrap();
        let send = async {
            for _ in 0..256 {
                up.write(&[7; 16_384]).await.unwrap();
            }
            up.finish().await.unwrap();
        };
        let ((), bytes) = tokio::join!(send, count(response.body()));
        assert_eq!(bytes.unwrap(), 256 * 16_384 + " and that was all".len());
    })
    .await;
}

#[tokio::test]
async fn a_tunnel_can_be_refused_and_reset() {
    let server = Running::start(true).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    within(async {
        let url = server.url("/other");
        let (up, pending) = client.request("CONNECT", &url).protocol("other").open().await.unwrap();
        let mut response = pending.response().await.unwrap();
        assert_eq!(response.status(), Status::NOT_IMPLEMENTED);
        assert_eq!(response.body().chunk().await.unwrap(), Some(&b"/other"[..]));
        drop((up, response));
        let url = server.url("/reset");
        let (_up, pending) = client.request("CONNECT", &url).protocol("echo").open().await.unwrap();
        let mut response = pending.response().await.unwrap();
        let error = response.body().chunk().await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Reset(h2::ErrorCode::INTERNAL_ERROR)), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_has_not_offered_it_is_not_asked() {
    let server = Running::start(false).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    within(async {
        let url = server.url("/");
        let refused = client.request("CONNECT", &url).protocol("echo").open().await.err().unwrap();
        let cause = refused.cause();
        assert!(
            matches!(cause, Cause::Refused(Refusal::Http2(h2::SendError::ConnectProtocolNotEnabled))),
            "{refused}"
        );
        let response = client.get(&url).send().await.unwrap();
        assert_eq!(response.status(), Status::NOT_IMPLEMENTED, "the connection is as good as before");
    })
    .await;
}

#[tokio::test]
async fn only_connect_has_a_protocol() {
    let server = Running::start(true).await;
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let url = server.url("/");
    let refused = within(client.get(&url).protocol("echo").open()).await.err().unwrap();
    assert!(
        matches!(refused.cause(), Cause::Refused(Refusal::Http2(h2::SendError::Control(_)))),
        "{refused}"
    );
}
