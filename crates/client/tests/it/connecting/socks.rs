//! SOCKS proxies.

use std::{io, net::SocketAddr};

use alula_client::{Cause, Client, Phase, Proxy};

use crate::support::peer::{closed, get, listen};
use crate::support::relay::socks;

fn client(proxy: &str, at: SocketAddr) -> Client {
    let proxy = Proxy::all(&proxy.replace("PROXY", &at.to_string())).unwrap();
    let nobody = |_: &str, _| async { Err(io::ErrorKind::NotFound.into()) };
    let builder = Client::builder().proxy(proxy).resolver(nobody);
    let addresses = ["[2001:db8::1]:80", "192.0.2.1:80"].map(|address| address.parse().unwrap());
    builder.resolve("a.example", 80, addresses).build().unwrap()
}

#[tokio::test]
async fn hosts_are_looked_up_here_or_there() {
    let (origin, heads) = listen().await;
    for (scheme, asked) in [("socks5", "2001:db8::1 80"), ("socks5h", "name a.example 80")] {
        let (at, targets) = socks(origin, None).await;
        let client = client(&format!("{scheme}://PROXY"), at);
        assert_eq!(get(&client, "http://a.example/path").await.unwrap(), "hello");
        assert_eq!(targets.take(), [asked]);
        assert!(heads.take()[0].starts_with("GET /path HTTP/1.1\r\n"));
    }
    let (at, targets) = socks(origin, None).await;
    let client = client("socks5h://PROXY", at);
    get(&client, "http://[2001:db8::2]:81/").await.unwrap();
    assert_eq!(targets.take(), ["2001:db8::2 81"]);
}

#[tokio::test]
async fn credentials_are_given_to_who_asks_for_them() {
    let (origin, _) = listen().await;
    let (at, targets) = socks(origin, Some(b"\x01\x04user\x06secret")).await;
    let call = |proxy: &'static str| async move { get(&client(proxy, at), "http://a.example/").await };
    assert_eq!(call("socks5h://user:secret@PROXY").await.unwrap(), "hello");
    for (proxy, why) in [
        ("socks5h://PROXY", "it asks for a name and a password"),
        ("socks5h://user:decret@PROXY", "it does not take the name and password"),
    ] {
        let error = call(proxy).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Proxy);
        assert!(matches!(error.cause(), Cause::Socks(reason) if *reason == why), "{error}");
    }
    assert_eq!(targets.take(), ["name a.example 80", "refused: no method", "refused: wrong password"]);
}

#[tokio::test]
async fn an_address_that_the_proxy_cannot_reach_is_followed_by_the_next() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for (bytes, reply) in [(22, 4), (10, 0)] {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.read_exact(&mut [0; 3]).await.unwrap();
            socket.write_all(b"\x05\0").await.unwrap();
            socket.read_exact(&mut vec![0; bytes]).await.unwrap();
            socket.write_all(&[5, reply, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            if reply == 0 {
                crate::support::peer::answer(socket, Default::default()).await;
            }
        }
    });
    assert_eq!(get(&client("socks5://PROXY", at), "http://a.example/").await.unwrap(), "hello");
}

#[tokio::test]
async fn hosts_that_are_unknown_here_are_not_the_proxys_fault() {
    let (at, _) = socks(closed().await, None).await;
    let error = get(&client("socks5://PROXY", at), "http://b.example/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Resolve, "{error}");
}
