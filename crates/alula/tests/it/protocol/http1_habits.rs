//! What can be set about HTTP/1.1: how names are spelled, and what a peer is forgiven.

use alula::h1::{Leniency, Spelling};
use alula::{Client, Error, Exchange, Sent, Server, ServerBuilder, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::listen;

/// Answers with the names of the request's fields as they were spelled, where that was kept.
async fn tell_spelling(exchange: Exchange) -> Result<Sent, Error> {
    let names = exchange.request().headers().iter();
    let names: Vec<String> =
        names.map(|field| field.spelling().unwrap_or(field.name().as_str()).to_owned()).collect();
    exchange
        .respond(Status::OK)
        .header("x-answer", "1")
        .header_spelled("X_kEy", "2")
        .send(names.join(" ").as_bytes())
        .await
}

async fn start(builder: ServerBuilder) -> String {
    format!("http://{}/", listen(builder, tell_spelling).await)
}

async fn text(client: &Client, url: &str) -> Result<String, Error> {
    let mut response = client.get(url).header("x-odd", "1").header("accept", "*/*").send().await?;
    let mut content = Vec::new();
    response.body().copy_to(&mut content).await?;
    Ok(String::from_utf8(content).unwrap())
}

#[tokio::test]
async fn names_are_spelled_as_is_set_and_kept_where_asked_for() {
    let keeping = start(Server::builder().http1_keep_spelling(true)).await;
    let forgetting = start(Server::builder()).await;
    let (usual, lower) =
        (Client::new().unwrap(), Client::builder().http1_spelling(Spelling::Lower).build().unwrap());
    for (client, url, expected) in [
        (&usual, &keeping, ["X-Odd", "Accept"]),
        (&lower, &keeping, ["x-odd", "accept"]),
        (&usual, &forgetting, ["x-odd", "accept"]),
    ] {
        let text = text(client, url).await.unwrap();
        for name in expected {
            assert!(text.split(' ').any(|shown| shown == name), "{name} in {text}");
        }
    }
}

#[tokio::test]
async fn a_caller_spells_names_as_it_likes() {
    let url = start(Server::builder().http1_keep_spelling(true)).await;
    for (spelling, expected) in [
        (Spelling::Given, "User-Agent X_kEy X-Odd hOsT-2"),
        (Spelling::Canonical, "User-Agent X_key X-Odd Host-2"),
        (Spelling::Lower, "user-agent x_key x-odd host-2"),
    ] {
        let client = Client::builder().http1_spelling(spelling).build().unwrap();
        let spelled = |text: &str| {
            let mut names: Vec<_> = text.split(' ').map(str::to_owned).collect();
            names.sort_unstable_by_key(|name| name.to_ascii_lowercase());
            names.join(" ")
        };
        let call =
            client.get(&url).header_spelled("X_kEy", "1").header("x-odd", "1").header_spelled("hOsT-2", "");
        let content = call.send().await.unwrap().text().await.unwrap();
        assert_eq!(spelled(&content), spelled(expected));
        let prepare = client.prepare("GET", &url).unwrap().header_spelled("X_kEy", "1");
        let prepared = prepare.header("x-odd", "1").header_spelled("hOsT-2", "").build().unwrap();
        let content = client.call(&prepared).send().await.unwrap().text().await.unwrap();
        assert_eq!(spelled(&content), spelled(expected), "prepared");
    }
}

#[tokio::test]
async fn a_caller_sees_names_as_the_server_spelled_them() {
    let url = answering(b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 0\r\nX_kEy: 1\r\nETag: 2\r\n\r\n").await;
    for (keeps, expected) in [(true, "content-LENGTH X_kEy ETag"), (false, "- - -")] {
        let client = Client::builder().http1_keep_spelling(keeps).build().unwrap();
        let response = client.get(&url).send().await.unwrap();
        let names: Vec<_> = response.headers().iter().map(|field| field.spelling().unwrap_or("-")).collect();
        assert_eq!(names.join(" "), expected);
    }
}

/// A server that answers every connection with these bytes.
async fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = [0; 1024];
            let _ = socket.read(&mut request).await;
            let _ = socket.write_all(bytes).await;
        }
    });
    url
}

#[tokio::test]
async fn a_client_forgives_what_it_is_told_to_and_nothing_else() {
    let cases: [(&[u8], Leniency); 3] = [
        (b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok", Leniency { bare_lf: true, ..Leniency::default() }),
        (
            b"HTTP/1.1 200 OK\r\nx-long: a\r\n b\r\ncontent-length: 2\r\n\r\nok",
            Leniency { folded_lines: true, ..Leniency::default() },
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok",
            Leniency { space_before_colon: true, ..Leniency::default() },
        ),
    ];
    for (bytes, leniency) in cases {
        let url = answering(bytes).await;
        let strict = text(&Client::new().unwrap(), &url).await;
        assert!(strict.is_err(), "{leniency:?}: {strict:?}");
        let lenient = Client::builder().http1_leniency(leniency).build().unwrap();
        assert_eq!(text(&lenient, &url).await.unwrap(), "ok", "{leniency:?}");
    }
}

#[tokio::test]
async fn a_server_forgives_what_it_is_told_to_and_nothing_else() {
    let request = b"GET / HTTP/1.1\r\nhost: a\r\nx-long: a\r\n b\r\nconnection: close\r\n\r\n";
    let folded = Leniency { folded_lines: true, ..Leniency::default() };
    for (builder, status) in [(Server::builder(), "400"), (Server::builder().http1_leniency(folded), "200")] {
        let url = start(builder).await;
        let mut socket =
            TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/')).await.unwrap();
        socket.write_all(request).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test]
async fn a_server_spells_its_answers_as_is_set() {
    for (spelling, names) in [
        (Spelling::Given, "X-Answer: 1\r\nX_kEy: 2\r\n"),
        (Spelling::Canonical, "X-Answer: 1\r\nX_key: 2\r\n"),
        (Spelling::Lower, "x-answer: 1\r\nx_key: 2\r\n"),
    ] {
        let url = start(Server::builder().http1_spelling(spelling)).await;
        let mut socket =
            TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/')).await.unwrap();
        socket.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains(names), "{answer}");
    }
}
