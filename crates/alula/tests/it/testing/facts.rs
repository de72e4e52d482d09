//! What handlers are told of a connection comes from the code that handed it over.

use alula::{TransportFacts, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

#[tokio::test(start_paused = true)]
async fn handlers_see_the_peer_and_the_scheme() {
    for (server, version) in both().into_iter().zip(["HTTP/1.1", "HTTP/2"]) {
        let ask = async |client: alula::Client| {
            client.get("http://test/peer").send().await.unwrap().text().await.unwrap()
        };
        assert_eq!(ask(server.client()).await, format!("127.0.0.1:49152 {version} http"));
        assert_eq!(ask(server.client()).await, format!("127.0.0.1:49153 {version} http"));
        let facts = TransportFacts::new().peer(([192, 0, 2, 7], 7)).secure();
        let server = server.facts(facts);
        assert_eq!(ask(server.client()).await, format!("192.0.2.7:7 {version} https"));
    }
}

/// Asks `/peer` in HTTP/1.1 over a transport that is none of ours, and returns how the connection ended and
/// what was answered.
async fn ask_with(settings: alula::ServerBuilder, facts: TransportFacts) -> (bool, String) {
    let (mut near, far) = duplex(4096);
    let served = tokio::spawn(settings.build(answer).serve_connection(far, facts));
    near.write_all(b"GET /peer HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    near.read_to_end(&mut said).await.unwrap();
    drop(near);
    (served.await.unwrap().is_ok(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test(start_paused = true)]
async fn the_version_is_found_or_told() {
    let (is_ok, said) = ask_with(Server::builder(), TransportFacts::new()).await;
    assert!(is_ok && said.ends_with("0.0.0.0:0 HTTP/1.1 http"), "{said}");
    let (is_ok, said) = ask_with(Server::builder(), TransportFacts::new().version(Version::Http1)).await;
    assert!(is_ok && said.ends_with("0.0.0.0:0 HTTP/1.1 http"), "{said}");
    // Told to be HTTP/2, the request is no preface: the peer gets SETTINGS and GOAWAY.
    let (_, said) = ask_with(Server::builder(), TransportFacts::new().version(Version::Http2)).await;
    assert!(!said.contains("HTTP/1.1 200"), "{said}");
    // A version that is not spoken.
    let http1 = TransportFacts::new().version(Version::Http1);
    assert_eq!(ask_with(Server::builder().http2_only(), http1).await, (false, String::new()));
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn no_tls_is_looked_for_in_a_transport_that_is_secure() {
    let server = || {
        let identity = alula::Identity::self_signed(["test"]).unwrap();
        Server::builder().identity(identity).clear_text(false)
    };
    let (is_ok, said) = ask_with(server(), TransportFacts::new()).await;
    assert!(!is_ok && said.is_empty(), "{said}");
    let (is_ok, said) = ask_with(server(), TransportFacts::new().secure()).await;
    assert!(is_ok && said.ends_with("0.0.0.0:0 HTTP/1.1 https"), "{said}");
}
