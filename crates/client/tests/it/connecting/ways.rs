//! Who is looked up and connected to.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula_client::{Cause, Client, Destination, Phase, Transport};

use crate::support::peer::{Heads, answer, closed, get, listen};

#[tokio::test]
async fn hosts_are_looked_up_by_the_resolver_given_in_their_ascii_form() {
    let (address, heads) = listen().await;
    let asked: Arc<Mutex<Vec<(String, u16)>>> = Arc::default();
    let noted = asked.clone();
    let resolver = move |host: &str, port| {
        noted.lock().unwrap().push((host.to_owned(), port));
        async move { Ok(vec![address]) }
    };
    let client = Client::builder().no_proxy().resolver(resolver).build().unwrap();
    assert_eq!(get(&client, "http://b\u{fc}cher.example/").await.unwrap(), "hello");
    assert_eq!(*asked.lock().unwrap(), [("xn--bcher-kva.example".to_owned(), 80)]);
    let head = heads.take().concat().to_ascii_lowercase();
    assert!(head.contains("\r\nhost: xn--bcher-kva.example\r\n"), "{head}");
}

#[tokio::test]
async fn what_was_said_of_a_host_is_not_looked_up() {
    let (address, heads) = listen().await;
    let nobody = |_: &str, _| async { Err(io::ErrorKind::NotFound.into()) };
    let builder = Client::builder().no_proxy().resolver(nobody);
    let client = builder.resolve("example.com", 8080, [address]).build().unwrap();
    assert_eq!(get(&client, "http://example.com:8080/").await.unwrap(), "hello");
    assert!(heads.take().concat().to_ascii_lowercase().contains("\r\nhost: example.com:8080\r\n"));
    let error = get(&client, "http://example.com/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Resolve);
    assert!(error.is_connect() && error.is_retryable(), "{error}");
    assert_eq!(
        error.to_string(),
        "GET http://example.com/: could not resolve host example.com: entity not found"
    );
}

#[tokio::test]
async fn an_address_that_refuses_is_followed_by_the_next() {
    let (address, _) = listen().await;
    let dead = closed().await;
    let builder = Client::builder().no_proxy().resolve("a.example", 80, [dead, address]);
    assert_eq!(get(&builder.build().unwrap(), "http://a.example/").await.unwrap(), "hello");
}

#[tokio::test]
async fn when_no_address_answers_all_are_told() {
    let dead = [closed().await, closed().await];
    let client = Client::builder().no_proxy().resolve("a.example", 80, dead).build().unwrap();
    let error = get(&client, "http://a.example/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Connect);
    assert!(matches!(error.cause(), Cause::Io(io::ErrorKind::ConnectionRefused, Some(_))), "{error}");
    let tried: Vec<_> = error.tried().iter().map(|attempt| (attempt.address, attempt.failure)).collect();
    assert_eq!(tried, dead.map(|address| (address, io::ErrorKind::ConnectionRefused)));
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_does_not_answer_is_given_up() {
    let silent = |_: &str, _| std::future::pending::<io::Result<Vec<SocketAddr>>>();
    for (builder, seconds) in [
        (Client::builder(), 10),
        (Client::builder().resolve_timeout(Duration::from_secs(2)), 2),
        (Client::builder().connect_timeout(Duration::MAX).resolve_timeout(Duration::from_secs(77)), 77),
    ] {
        let client = builder.no_proxy().resolver(silent).build().unwrap();
        let began = tokio::time::Instant::now();
        let error = get(&client, "http://a.example/").await.unwrap_err();
        assert_eq!((error.phase(), error.is_timeout()), (Phase::Resolve, true), "{error}");
        assert_eq!(began.elapsed().as_secs(), seconds);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn unix_sockets_lead_to_any_origin() {
    let folder = std::env::temp_dir().join(format!("alula-connecting-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let heads = Heads::default();
    let kept = heads.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer(socket, kept.clone()));
        }
    });
    let client = Client::builder().unix_socket(&path).build().unwrap();
    assert_eq!(get(&client, "http://localhost/version").await.unwrap(), "hello");
    assert_eq!(get(&client, "http://nobody.invalid/").await.unwrap(), "hello");
    let heads = heads.take();
    assert!(heads[0].starts_with("GET /version HTTP/1.1\r\n"), "{heads:?}");
    drop(client);
    std::fs::remove_dir_all(&folder).unwrap();
    let client = Client::builder().unix_socket(&path).build().unwrap();
    let error = get(&client, "http://localhost/version").await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Io(io::ErrorKind::NotFound, _)), "{error}");
    assert_eq!(error.phase(), Phase::Connect);
}

#[tokio::test]
async fn connectors_are_told_whom_to_lead_to() {
    let (heads, asked) = (Heads::default(), Arc::new(Mutex::new(Vec::new())));
    let (kept, noted) = (heads.clone(), asked.clone());
    let connector = move |to: &Destination| {
        noted.lock().unwrap().push((to.scheme().to_owned(), to.to_string()));
        let kept = kept.clone();
        async move {
            let (near, far) = tokio::io::duplex(100);
            tokio::spawn(answer(far, kept));
            Ok(Box::new(near) as Box<dyn Transport>)
        }
    };
    let client = Client::builder().connector(connector).build().unwrap();
    for url in ["http://a.example/", "http://[2001:db8::1]:8080/", "http://a.example/again"] {
        assert_eq!(get(&client, url).await.unwrap(), "hello");
    }
    let destinations = ["a.example:80", "[2001:db8::1]:8080"].map(|to| ("http".to_owned(), to.to_owned()));
    assert_eq!(*asked.lock().unwrap(), destinations, "one is used again");
    assert_eq!(heads.take().len(), 3);
}

#[tokio::test]
async fn why_a_connector_found_no_way_is_told() {
    let none = |_: &Destination| async { Err(io::ErrorKind::HostUnreachable.into()) };
    let client = Client::builder().connector(none).build().unwrap();
    let error = get(&client, "http://a.example/").await.unwrap_err();
    assert_eq!(error.to_string(), "GET http://a.example/: could not connect: host unreachable");
}
