//! Content of text or bytes, both ways.

use alula::{Client, Error, Exchange, KnownName, Sent, Status};

use super::{blocking_client, said, said_at_once, start};

use crate::support::serve;

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    let reply = exchange.respond(Status::OK);
    match &*path {
        "/str" => reply.send("hello").await,
        "/string" => reply.send(String::from("hello")).await,
        "/vec" => reply.send(b"hello".to_vec()).await,
        "/slice" => reply.send(&path.as_bytes()[..0]).await,
        "/array" => reply.send(b"hello").await,
        "/bytes" => reply.send(bytes::Bytes::from_static(b"hello")).await,
        "/none" => reply.send(&[]).await,
        _ => {
            let mut writer = reply.stream().await?;
            writer.write("he").await?;
            writer.write(String::from("l")).await?;
            writer.write(b"l").await?;
            writer.finish_content(vec![b'o']).await
        }
    }
}

#[tokio::test]
async fn a_reply_is_text_or_bytes() {
    let origin = serve(answer).await;
    let client = Client::new().unwrap();
    for (path, expected) in [
        ("/str", "hello"),
        ("/string", "hello"),
        ("/vec", "hello"),
        ("/slice", ""),
        ("/array", "hello"),
        ("/bytes", "hello"),
        ("/none", ""),
        ("/streamed", "hello"),
    ] {
        assert_eq!(said(client.get(format!("{origin}{path}")).send().await).await, expected, "{path}");
    }
}

#[tokio::test]
async fn so_is_what_is_sent_to_a_server() {
    let (origin, client) = (start(), Client::new().unwrap());
    let post = || client.post(&origin);
    for response in [
        post().send_body("a").await,
        post().send_body(String::from("a")).await,
        post().send_body(b"a").await,
        post().send_body(vec![b'a']).await,
        post().send_body(bytes::Bytes::from_static(b"a")).await,
    ] {
        assert_eq!(said(response).await, "POST / a");
    }
    let mut prepare = client.prepare("POST", &origin).unwrap().header("accept", "*/*");
    let id = prepare.hole("x-id").unwrap();
    let prepared = prepare.build().unwrap();
    for call in [
        client.call(&prepared).set(id, "7"),
        client.call(&prepared).set(id, b"7"),
        client.call(&prepared).set(id, &origin),
    ] {
        assert_eq!(said(call.send_body("a").await).await, "POST / a");
    }
}

#[tokio::test]
async fn a_name_is_text_or_a_type() {
    let client = Client::new().unwrap();
    let (name, value) = (String::from("x-sum"), String::from("1"));
    let call = client.get("http://127.0.0.1:9/").header(&name, &value).header(KnownName::ACCEPT, "*/*");
    let call = call.header(&http::header::RANGE, http::HeaderValue::from_static("bytes=0-"));
    let shown = format!("{call:?}");
    for field in [r#"x-sum: "1""#, r#"accept: "*/*""#, r#"range: "bytes=0-""#] {
        assert!(shown.contains(field), "{shown}");
    }
}

#[test]
fn calls_that_wait_take_the_same() {
    let (client, origin) = (blocking_client(), start());
    assert_eq!(said_at_once(client.post(&origin).send_body("a")), "POST / a");
    let (writer, pending) = client.post(&origin).open().unwrap();
    writer.finish_content("b").unwrap();
    assert_eq!(said_at_once(pending.response()), "POST / b");
}
