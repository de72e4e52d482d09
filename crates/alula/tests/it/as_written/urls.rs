//! URLs and paths that are borrowed, and such that are made on the spot.

use std::{borrow::Cow, sync::Arc};

use alula::{Call, Cause, Client, blocking};

use super::{blocking_client, clients, said, said_at_once, start};

/// A call of a URL that is made here.
fn item(client: &Client, origin: &str, id: u32) -> Call<'static> {
    let url = format!("{origin}/items/{id}");
    client.get(url)
}

fn item_that_waits(client: &blocking::Client, origin: &str, id: u32) -> blocking::Call<'static> {
    let url = format!("{origin}/items/{id}");
    client.get(url).query([("id", id)])
}

#[tokio::test]
async fn a_url_is_anything_that_is_text() {
    let origin = start();
    let url = format!("{origin}/a");
    let parsed: url::Url = url.parse().unwrap();
    let list = [&*url];
    for client in clients() {
        for call in [
            client.get(&url),
            client.get(&*url),
            client.get(url.clone()),
            client.get(format!("{origin}/a")),
            client.get(Cow::Borrowed(&*url)),
            client.get(Cow::<str>::Owned(url.clone())),
            client.get(Box::<str>::from(&*url)),
            client.get(&Arc::<str>::from(&*url)),
            client.get(&parsed),
            client.get(parsed.clone()),
            client.get(url.parse::<http::Uri>().unwrap()),
            // What is written in another way is parsed.
            client.get(format!("{origin}/./b/../a#c")),
            client.get(format!("{origin}/x")).path(format!("/{}", "a")),
        ] {
            assert_eq!(said(call.send().await).await, "GET /a");
        }
        for url in &list {
            assert_eq!(said(client.get(url).send().await).await, "GET /a");
        }
        assert_eq!(said(client.get(format!("{origin}/a")).send().await).await, "GET /a");
        assert_eq!(said(item(&client, &origin, 17).send().await).await, "GET /items/17");
        assert_eq!(said(client.get(origin.clone()).send().await).await, "GET /");
        assert_eq!(said(client.get(format!("{origin}?q")).send().await).await, "GET /?q");
        let prepared = client.prepare("GET", format!("{origin}/a")).unwrap().build().unwrap();
        for number in 0..3 {
            let call = client.call(&prepared).path(format!("/{number}"));
            assert_eq!(said(call.send().await).await, format!("GET /{number}"));
        }
    }
}

#[test]
fn calls_that_wait_take_the_same() {
    let (client, origin) = (blocking_client(), start());
    assert_eq!(said_at_once(client.get(format!("{origin}/a")).send()), "GET /a");
    assert_eq!(said_at_once(item_that_waits(&client, &origin, 17).send()), "GET /items/17?id=17");
    assert_eq!(said_at_once(client.delete(url::Url::parse(&origin).unwrap()).send()), "DELETE /");
}

#[tokio::test]
async fn a_bad_url_is_told_when_the_call_is_sent() {
    let client = Client::new().unwrap();
    for url in ["", "nowhere", "ftp://a/"] {
        let error = client.get(url.to_owned()).send().await.err().unwrap();
        assert!(matches!(error.cause(), Cause::Url(_)), "{error}");
    }
}
