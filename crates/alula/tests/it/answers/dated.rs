//! Answers that the server gives in place of a handler have a date, and one only (RFC 9110 §6.6.1).

use alula::{
    Answer, Client, Exchange, FieldSection, Router, Sent, Status, routing::get, testing::TestServer,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

async fn panics(_: Exchange) -> Result<Sent, Answer> {
    panic!("as the test wants it")
}

async fn dates(_: Exchange) -> Result<Sent, Answer> {
    Err(Answer::new(Status::GONE).header("date", DATE))
}

async fn drops(exchange: Exchange) -> Result<Sent, Answer> {
    drop(exchange);
    Err(Answer::new(Status::CONFLICT))
}

async fn breaks_the_head(exchange: Exchange) -> Result<Sent, Answer> {
    exchange.respond(Status::OK).header("transfer-encoding", "gzip").send("").await.map_err(Answer::from)
}

fn server() -> TestServer {
    let router = Router::new()
        .route("/panics", get(panics))
        .route("/dates", get(dates))
        .route("/drops", get(drops))
        .route("/breaks", get(breaks_the_head));
    TestServer::new(router.build().unwrap())
}

fn dates_of(fields: &FieldSection) -> Vec<String> {
    let dates = fields.iter().filter(|field| field.name_bytes() == b"date");
    dates.map(|field| String::from_utf8(field.value().to_vec()).unwrap()).collect()
}

#[tokio::test]
async fn answers_in_place_of_a_handler_have_one_date() {
    for (server, http2) in [(server(), false), (server().http2(), true)] {
        let client: Client = server.client();
        for (path, status) in
            [("panics", 500), ("dates", 410), ("drops", 409), ("breaks", 500), ("none", 404)]
        {
            let response = client.get(format!("http://test/{path}")).send().await.unwrap();
            let dates = dates_of(response.headers());
            assert_eq!(
                (response.status().as_u16(), dates.len()),
                (status, 1),
                "{path}, HTTP/2: {http2}: {dates:?}"
            );
            assert_eq!(dates[0] == DATE, path == "dates");
        }
        if http2 {
            // More fields than are taken; their bytes are not too many, so the client sends them.
            let text = "The head of the request is larger than fields allows (RFC 6585).\n";
            for (method, text) in [("GET", text), ("HEAD", "")] {
                let mut call = client.request(method, "http://test/none");
                for _ in 0..300 {
                    call = call.header("x", "");
                }
                let mut response = call.send().await.unwrap();
                assert_eq!((response.status().as_u16(), dates_of(response.headers()).len()), (431, 1));
                assert_eq!(response.text().await.unwrap(), text, "{method}");
            }
        }
    }
}

/// Requests that the machine of HTTP/1.1 refuses by itself: a request that is malformed, one that is too
/// long, and one that does not come.
#[tokio::test(start_paused = true)]
async fn refusals_of_http1_have_one_date() {
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n", "a".repeat(40_000));
    for (bytes, status) in [("GET / HTTP/1.1\r\n\r\n", 400), (&long, 431), ("GET / HTTP/1.1\r\n", 408)] {
        let mut peer = server().connect();
        peer.write_all(bytes.as_bytes()).await.unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.to_lowercase().matches("\r\ndate: ").count(), 1, "{answer}");
        assert_eq!(
            answer.ends_with("is larger than head_bytes allows (RFC 6585).\n"),
            status == 431,
            "{answer}"
        );
    }
}
