//! A client and a server come to a key agreement that a quantum computer does not break, unless told
//! otherwise.

use alula::{Client, Error, Exchange, Identity, Sent, Server, Status};

use crate::support::listen;

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::NO_CONTENT).send(b"").await
}

#[tokio::test]
async fn client_and_server_agree_on_the_hybrid() {
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let root = identity.certificate_pem().unwrap().to_owned();
    let address = listen(Server::builder().identity(identity), answer).await;
    for http1 in [false, true] {
        let builder = Client::builder().no_proxy().resolve("localhost", 443, [address]);
        let builder = if http1 { builder.http1_only() } else { builder };
        let client = builder.add_roots_pem(root.as_bytes()).unwrap().build().unwrap();
        let response = client.get("https://localhost/").send().await.unwrap();
        let agreement = response.tls().unwrap().key_agreement();
        assert_eq!(agreement, Some("X25519MLKEM768"), "{:?}", response.version());
    }
}
