//! Names of requests: made unless a trusted peer gave a good one, and the same for handler and answer.

use alula::{Exchange, RequestId, Router, Status, routing::get};

use super::{clients, serve_routes};

fn routes(ids: RequestId) -> Router {
    let name = |exchange: Exchange| async move {
        let names: Vec<_> = exchange.request().headers().get_all("x-request-id").collect();
        let said = names.join(&b'|');
        exchange.respond(Status::OK).send(said).await
    };
    Router::new().hook(ids).route("/", get(name))
}

#[tokio::test]
async fn a_request_has_one_name() {
    let long = "a".repeat(129);
    let rows: [(&[&str], bool); 9] = [
        (&[], false),
        (&["a1-._:/+=@"], true),
        (&[&long[..128]], true),
        (&[&long], false),
        (&["a", "b"], false),
        (&["a,b"], false),
        (&["a b"], false),
        (&["\u{f6}"], false),
        (&[""], false),
    ];
    for trusts in [true, false] {
        let origin =
            serve_routes(routes(RequestId::new().trusted(move |peer| trusts && peer.is_loopback()))).await;
        for client in clients() {
            for (names, is_kept) in rows {
                let call =
                    names.iter().fold(client.get(&origin), |call, name| call.header("x-request-id", name));
                let mut response = call.send().await.unwrap();
                let answered: Vec<_> =
                    response.headers().get_all("x-request-id").map(<[u8]>::to_vec).collect();
                let [answered] = &answered[..] else { panic!("{answered:?}") };
                assert_eq!(response.bytes().await.unwrap(), &answered[..], "{names:?}");
                if is_kept && trusts {
                    assert_eq!(answered, names[0].as_bytes());
                } else {
                    assert!(answered.len() == 32 && answered.iter().all(u8::is_ascii_hexdigit), "{names:?}");
                }
            }
        }
    }
}
