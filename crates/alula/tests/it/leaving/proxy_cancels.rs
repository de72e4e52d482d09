//! A reverse proxy on Alula's client and server: when its client leaves, its call to the origin is given up,
//! and the origin's handler is dropped in turn. What its client does not wait for, nobody works on.

use alula::{Client, Error, Exchange, Sent, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Served, Tells};
use crate::ends::peer::FOREVER;

/// Hands a request on, and its answer back as it comes.
async fn hand_on(client: Client, origin: String, exchange: Exchange) -> Result<Sent, Error> {
    let url = format!("{origin}{}", exchange.request().path());
    let mut response = client.get(&url).send().await?;
    let mut writer = exchange.respond(response.status()).stream().await?;
    while let Some(piece) = response.body().chunk().await? {
        writer.write(piece).await?;
    }
    writer.finish().await
}

#[tokio::test]
async fn a_proxy_whose_client_leaves_gives_up_its_call() {
    for (http2, path) in [(false, "/never"), (false, "/silent"), (true, "/never"), (true, "/silent")] {
        let mut origin = Served::begin().await;
        let url = format!("http://{}", origin.address);
        let client = Client::builder().no_proxy().http2_prior_knowledge(http2).build().unwrap();
        let (tells, mut told) = Tells::new();
        let handed_on = move |exchange: Exchange| {
            let (client, url, alive) = (client.clone(), url.clone(), tells.begin());
            async move {
                let _alive = alive;
                hand_on(client, url, exchange).await
            }
        };
        let proxy = Server::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (proxy.address().unwrap(), proxy.stop_handle());
        let proxy = tokio::spawn(proxy.serve_with_grace(handed_on, 10 * FOREVER));

        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await.unwrap();
        assert_eq!((told.next().await, origin.told.next().await), ("begun".into(), "begun".into()));
        if path == "/silent" {
            let mut head = [0; 15];
            timeout(FOREVER, socket.read_exact(&mut head)).await.unwrap().unwrap();
            assert_eq!(&head, b"HTTP/1.1 200 OK");
        }
        socket.shutdown().await.unwrap();
        assert_eq!(told.next().await, "dropped", "{path}, HTTP/2 to the origin: {http2}");
        assert_eq!(origin.told.next().await, "dropped", "{path}, HTTP/2 to the origin: {http2}");
        stop.stop();
        timeout(FOREVER, proxy).await.expect("the proxy ends").unwrap().unwrap();
        origin.end().await;
    }
}
