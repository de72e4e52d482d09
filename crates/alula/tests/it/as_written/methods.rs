//! Methods by type and by name.

use alula::{Cause, Client, Method, Phase};

use super::{blocking_client, clients, said, said_at_once, start};

#[tokio::test]
async fn a_method_is_given_by_its_type_or_its_name() {
    let origin = start();
    let named = String::from("PROPFIND");
    for client in clients() {
        for (call, expected) in [
            (client.patch(&origin), "PATCH /"),
            (client.request(Method::Patch, &origin), "PATCH /"),
            (client.request(Method::Other("PURGE"), &origin), "PURGE /"),
            (client.request("OPTIONS", &origin), "OPTIONS /"),
            (client.request(&named, &origin), "PROPFIND /"),
            (client.request(format!("X-{named}"), &origin), "X-PROPFIND /"),
            (client.request(http::Method::PUT, &origin), "PUT /"),
            (client.request(&http::Method::PUT, &origin), "PUT /"),
            (client.request(http::Method::from_bytes(b"M-SEARCH").unwrap(), &origin), "M-SEARCH /"),
        ] {
            assert_eq!(said(call.send().await).await, expected);
        }
        for prepare in [
            client.prepare("PATCH", &origin),
            client.prepare(Method::Patch, origin.clone()),
            client.prepare(http::Method::PATCH, &origin),
        ] {
            let prepared = prepare.unwrap().build().unwrap();
            assert_eq!(said(client.call(&prepared).send().await).await, "PATCH /");
        }
    }
}

#[test]
fn calls_that_wait_take_the_same() {
    let (client, origin) = (blocking_client(), start());
    assert_eq!(said_at_once(client.patch(&origin).send()), "PATCH /");
    assert_eq!(said_at_once(client.request(Method::Patch, &origin).send()), "PATCH /");
    assert_eq!(said_at_once(client.request(http::Method::PATCH, &origin).send_body("a")), "PATCH / a");
    let prepared = client.prepare("PURGE", &origin).unwrap().build().unwrap();
    assert_eq!(said_at_once(client.call(&prepared).path(format!("/{}", 1)).send()), "PURGE /1");
}

#[tokio::test]
async fn a_bad_name_is_told_when_the_call_is_sent() {
    let client = Client::new().unwrap();
    for name in ["", "GE T", "GET\r\n", "é"] {
        let error = client.request(name, "http://127.0.0.1:9/").send().await.err().unwrap();
        assert!(
            matches!((error.phase(), error.cause()), (Phase::Build, Cause::Refused(_))),
            "{name:?}: {error}"
        );
        assert!(client.prepare(name, "http://127.0.0.1:9/").unwrap().build().is_err(), "{name:?}");
    }
}
