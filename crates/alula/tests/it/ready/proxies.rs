//! Clients behind trusted proxies: their address for handlers, hooks and limits, and what nobody else can
//! claim.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alula::{ClientAddressField, Ended, Exchange, Hook, RateLimit, Router, Server, Status, routing::get};

use super::clients;

use crate::support::listen;

/// Writes down whose requests have ended.
#[derive(Clone, Default)]
struct Clients(Arc<Mutex<Vec<String>>>);

impl Hook for Clients {
    fn end(&self, ended: &Ended<'_>) {
        assert!(ended.peer().ip().is_loopback());
        self.0.lock().unwrap().push(ended.client_address().to_string());
    }
}

async fn serve(trusts: bool, field: Option<ClientAddressField>, router: Router) -> String {
    let builder = Server::builder().trusted_proxies(move |address| trusts && address.is_loopback());
    let builder = field.into_iter().fold(builder, |builder, field| builder.client_address_from(field));
    format!("http://{}", listen(builder, router.build().unwrap()).await)
}

fn routes() -> Router {
    let address = |exchange: Exchange| async move {
        let address = exchange.client_address().to_string();
        assert!(exchange.peer().ip().is_loopback());
        exchange.respond(Status::OK).send(address).await
    };
    Router::new().route("/", get(address))
}

#[tokio::test]
async fn trusted_proxies_name_their_client() {
    use ClientAddressField::{Forwarded, XForwardedFor};
    for (trusts, field, expected) in [
        (true, Some(XForwardedFor), "192.0.2.1"),
        (true, Some(Forwarded), "2001:db8::1"),
        (true, None, "127.0.0.1"),
        (false, Some(XForwardedFor), "127.0.0.1"),
    ] {
        let seen = Clients::default();
        let origin = serve(trusts, field, routes().hook(seen.clone())).await;
        for client in clients() {
            let call = client.get(&origin).header("x-forwarded-for", "10.9.9.9, 192.0.2.1, 127.0.0.1");
            let call = call.header("forwarded", "for=10.9.9.9, for=\"[2001:db8::1]:7\";proto=https");
            assert_eq!(call.send().await.unwrap().text().await.unwrap(), expected);
            // The next request on the connection has no client of the former.
            assert_eq!(client.get(&origin).send().await.unwrap().text().await.unwrap(), "127.0.0.1");
            let hostile =
                client.get(&origin).header("x-forwarded-for", ",\u{f6}, ,").header("forwarded", "for=\";,=");
            assert_eq!(hostile.send().await.unwrap().text().await.unwrap(), "127.0.0.1");
        }
        for _ in 0..500 {
            if seen.0.lock().unwrap().len() == 6 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let each = [expected, "127.0.0.1", "127.0.0.1"];
        assert_eq!(*seen.0.lock().unwrap(), [each, each].concat());
    }
}

#[tokio::test]
async fn limits_count_clients_and_not_their_proxy() {
    let limit = || RateLimit::new(1, Duration::from_secs(3_600));
    let origin = serve(true, Some(ClientAddressField::XForwardedFor), routes().hook(limit())).await;
    let other = serve(false, Some(ClientAddressField::XForwardedFor), routes().hook(limit())).await;
    let [client, _] = clients();
    for (origin, address, status) in [
        (&origin, "192.0.2.1", 200),
        (&origin, "192.0.2.2", 200),
        (&origin, "192.0.2.1", 429),
        (&origin, "192.0.2.3, 192.0.2.1", 429),
        (&other, "192.0.2.1", 200),
        (&other, "192.0.2.2", 429),
    ] {
        let response = client.get(origin).header("x-forwarded-for", address).send().await.unwrap();
        assert_eq!(response.status(), status, "{address}");
    }
}
