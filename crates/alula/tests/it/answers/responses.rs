//! The accessors of a response, the ways to read its content, and that a cut never looks like an end in any
//! of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{Cause, Client, Error, Exchange, FieldSection, Sent, Server, Status, Version};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::support::{clients, listen, serve};

const PATIENCE: Duration = Duration::from_secs(20);

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    match &*path {
        "/gone" => {
            exchange.respond(Status::GONE).header("content-type", "text/plain").send(b"it is gone").await
        }
        "/latin" => {
            let reply = exchange.respond(Status::OK).header("content-type", "text/plain; charset=iso-8859-1");
            reply.send(b"\xe4").await
        }
        "/odd" => {
            exchange.respond(Status::OK).header("content-type", "a/b; charset=martian").send(b"x").await
        }
        "/hints" => {
            exchange.interim(Status::EARLY_HINTS)?;
            exchange.interim(Status::EARLY_HINTS)?;
            exchange.respond(Status::OK).send(b"after hints").await
        }
        "/stream" => {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(&[b's'; 100_000]).await?;
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "7")?;
            writer.finish_with(&trailers).await
        }
        // The content is cut: the stream is reset, or the connection closed.
        "/half" => {
            let mut writer = exchange.respond(Status::OK).stream().await?;
            writer.write(b"half").await?;
            Err(Error::usage("no more"))
        }
        _ => exchange.respond(Status::OK).send(b"hello").await,
    }
}

async fn get(client: &Client, url: String) -> alula::Response {
    timeout(PATIENCE, client.get(&url).send()).await.expect("in time").unwrap()
}

#[tokio::test]
async fn a_response_tells_of_itself() {
    let (origin, clients) = (serve(answer).await, clients());
    for (client, version) in clients.iter().zip([Version::Http1, Version::Http2]) {
        let mut response = get(client, format!("{origin}/gone")).await;
        assert_eq!(response.version(), version);
        assert_eq!(response.content_type(), Some("text/plain"));
        assert_eq!(response.content_length(), Some(10));
        assert_eq!(response.remote_address().map(|it| format!("http://{it}")), Some(origin.clone()));
        assert!(response.tls().is_none());
        assert!(!format!("{response:?}").contains("text/plain"), "fields may hold secrets");
        assert_eq!(response.bytes_max(10).await.unwrap(), &b"it is gone"[..]);
        assert!(response.bytes_max(0).await.is_err(), "it was read");
    }
}

#[tokio::test]
async fn content_over_the_limit_is_refused() {
    let (origin, clients) = (serve(answer).await, clients());
    for client in &clients {
        for (path, bytes) in [("/gone", 9), ("/stream", 99_999), ("/stream", 0)] {
            let error = get(client, format!("{origin}{path}")).await.bytes_max(bytes).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::TooLong(most) if *most == bytes as u64), "{error}");
        }
        assert_eq!(
            get(client, format!("{origin}/stream")).await.bytes_max(100_000).await.unwrap().len(),
            100_000
        );
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_keeps_its_response() {
    let (origin, [client, _]) = (serve(answer).await, clients());
    assert!(get(&client, origin.clone()).await.error_for_status().is_ok());
    let error = get(&client, format!("{origin}/gone")).await.error_for_status().unwrap_err();
    assert_eq!(error.to_string(), format!("GET {origin}/gone: the server answered 410 Gone"));
    assert_eq!(error.into_response().text().await.unwrap(), "it is gone");
    let error = Error::from(get(&client, format!("{origin}/gone")).await.error_for_status().unwrap_err());
    assert!(matches!(error.cause(), Cause::Status(Status::GONE)));
}

#[cfg(feature = "charset")]
#[tokio::test]
async fn text_is_read_as_its_type_says() {
    let (origin, [client, _]) = (serve(answer).await, clients());
    assert_eq!(get(&client, format!("{origin}/latin")).await.text_max(10).await.unwrap(), "ä");
    let error = get(&client, format!("{origin}/odd")).await.text_max(10).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unreadable(why) if why.contains("martian")), "{error}");
}

#[tokio::test]
async fn a_body_is_a_reader_and_its_trailers_follow() {
    let (origin, clients) = (serve(answer).await, clients());
    for client in &clients {
        let mut response = get(client, format!("{origin}/stream")).await;
        let (mut head, mut rest) = ([0; 10], Vec::new());
        response.body().read_exact(&mut head).await.unwrap();
        tokio::io::copy(response.body(), &mut rest).await.unwrap();
        assert_eq!((head, rest.len()), ([b's'; 10], 99_990));
        let trailers = response.trailers().await.unwrap().unwrap();
        assert_eq!(trailers.get("x-sum"), Some(&b"7"[..]));
    }
}

#[tokio::test]
async fn a_cut_is_an_error_by_every_way_of_reading() {
    let (origin, clients) = (serve(answer).await, clients());
    for client in &clients {
        let half = || get(client, format!("{origin}/half"));
        let mut response = half().await;
        let error = response.body().copy_to(&mut tokio::io::sink()).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Reset(_) | Cause::Http1(_) | Cause::Closed), "{error}");
        assert!(response.body().chunk().await.is_err(), "and stays one");
        assert!(response.trailers().await.is_err());
        assert!(half().await.bytes().await.is_err());
        assert!(half().await.text().await.is_err());
        let error = half().await.body().read_to_end(&mut Vec::new()).await.unwrap_err();
        assert!(error.downcast::<Error>().is_ok(), "ours is within");
        let mut response = half().await;
        let body = response.body();
        let polled = std::future::poll_fn(|cx| {
            loop {
                match std::task::ready!(body.poll_chunk(cx)) {
                    Ok(Some(_)) => {}
                    Ok(None) => return std::task::Poll::Ready(Ok(())),
                    Err(error) => return std::task::Poll::Ready(Err(error)),
                }
            }
        });
        assert!(timeout(PATIENCE, polled).await.expect("in time").is_err());
    }
}

#[tokio::test]
async fn interim_responses_are_heard_by_who_wants_to() {
    let (origin, clients) = (serve(answer).await, clients());
    for client in &clients {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        let url = format!("{origin}/hints");
        let call = client.get(&url).on_interim(move |status, _| hears.lock().unwrap().push(status));
        let mut response = timeout(PATIENCE, call.send()).await.expect("in time").unwrap();
        assert_eq!(response.text().await.unwrap(), "after hints");
        assert_eq!(*heard.lock().unwrap(), [Status::EARLY_HINTS; 2]);
        assert_eq!(
            get(client, url).await.text().await.unwrap(),
            "after hints",
            "who does not is not bothered"
        );
    }
}

#[tokio::test]
async fn early_hints_have_fields() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await.unwrap();
        let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
        socket.write_all(hints).await.unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
        let _ = socket.read(&mut [0; 1]).await;
    });
    let (tell, told) = std::sync::mpsc::channel();
    let client = Client::new().unwrap();
    let call = client.get(&url).on_interim(move |status, fields| {
        tell.send((status, fields.get("link").map(<[u8]>::to_vec))).unwrap();
    });
    let (_writer, pending) = timeout(PATIENCE, call.open()).await.expect("in time").unwrap();
    let mut response = timeout(PATIENCE, pending.response()).await.expect("in time").unwrap();
    assert_eq!(response.text().await.unwrap(), "hi");
    assert_eq!(told.recv().unwrap(), (Status::EARLY_HINTS, Some(b"</style.css>".to_vec())));
}

#[cfg(feature = "self-signed")]
#[tokio::test]
async fn what_tls_has_agreed_on_is_told() {
    let identity = alula::Identity::self_signed(["localhost"]).unwrap();
    let url =
        format!("https://localhost:{}/", listen(Server::builder().identity(identity), answer).await.port());
    let client = Client::builder().trust_anything().build().unwrap();
    let response = get(&client, url).await;
    let facts = response.tls().expect("it is TLS");
    assert_eq!((facts.protocol(), facts.alpn(), facts.is_resumed()), ("TLSv1_3", Some(&b"h2"[..]), false));
    assert!(facts.cipher_suite().starts_with("TLS13_"), "{}", facts.cipher_suite());
    assert_eq!(facts.certificates().len(), 1);
    assert_eq!(facts.certificates().next().unwrap()[0], 0x30, "DER");
}
