//! Proxies that are written out by hand: they keep what they are asked, and lead where they are told to.

use std::{net::SocketAddr, sync::Arc};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use crate::support::peer::{Heads, head};

/// A proxy that takes CONNECT, and leads to this address whatever is asked for.
pub(crate) async fn tunnels(to: SocketAddr, tls: Option<ServerConfig>) -> (SocketAddr, Heads) {
    // Interim answers are passed over.
    let answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 Go ahead\r\nvia: a proxy\r\n\r\n";
    tunnels_behind(to, tls, answer).await
}

/// As [`tunnels`], of a proxy that agrees with this head.
pub(crate) async fn tunnels_behind(
    to: SocketAddr,
    tls: Option<ServerConfig>,
    answer: &'static str,
) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let kept = heads.clone();
    let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, kept) = (acceptor.clone(), kept.clone());
            tokio::spawn(async move {
                match acceptor {
                    None => tunnel(socket, to, kept, answer).await,
                    Some(acceptor) => {
                        // Who does not trust this proxy is gone.
                        let Ok(stream) = acceptor.accept(socket).await else { return };
                        tunnel(stream, to, kept, answer).await;
                    }
                }
            });
        }
    });
    (address, heads)
}

async fn tunnel(mut client: impl AsyncRead + AsyncWrite + Unpin, to: SocketAddr, heads: Heads, answer: &str) {
    let Some(head) = head(&mut client).await else { return };
    heads.note(head);
    client.write_all(answer.as_bytes()).await.unwrap();
    client.flush().await.unwrap();
    pass(&mut client, to).await;
}

/// A SOCKS 5 proxy that asks for this name and password, if for any, keeps what it is asked for, and leads to
/// this address.
pub(crate) async fn socks(to: SocketAddr, credentials: Option<&'static [u8]>) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let kept = heads.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let kept = kept.clone();
            tokio::spawn(async move {
                let asked = socks_target(&mut socket, credentials).await;
                kept.note(asked.clone());
                if asked.starts_with("refused") {
                    return;
                }
                socket.write_all(b"\x05\0\0\x01\0\0\0\0\0\0").await.unwrap();
                pass(&mut socket, to).await;
            });
        }
    });
    (address, heads)
}

async fn socks_target(socket: &mut TcpStream, credentials: Option<&[u8]>) -> String {
    let [version, methods] = read(socket).await;
    assert_eq!(version, 5);
    let mut offered = vec![0; usize::from(methods)];
    socket.read_exact(&mut offered).await.unwrap();
    let method = if credentials.is_some() { 2 } else { 0 };
    if !offered.contains(&method) {
        socket.write_all(b"\x05\xff").await.unwrap();
        return "refused: no method".to_owned();
    }
    socket.write_all(&[5, method]).await.unwrap();
    if let Some(credentials) = credentials {
        let mut given = vec![0; credentials.len()];
        socket.read_exact(&mut given).await.unwrap();
        let is_right = given == credentials;
        socket.write_all(&[1, u8::from(!is_right)]).await.unwrap();
        if !is_right {
            return "refused: wrong password".to_owned();
        }
    }
    let [5, 1, 0, kind] = read(socket).await else { panic!("that is not CONNECT") };
    let host = match kind {
        1 => std::net::Ipv4Addr::from(read::<4>(socket).await).to_string(),
        4 => std::net::Ipv6Addr::from(read::<16>(socket).await).to_string(),
        _ => {
            let mut name = vec![0; usize::from(read::<1>(socket).await[0])];
            socket.read_exact(&mut name).await.unwrap();
            format!("name {}", String::from_utf8(name).unwrap())
        }
    };
    format!("{host} {}", u16::from_be_bytes(read(socket).await))
}

async fn read<const BYTES: usize>(socket: &mut TcpStream) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    socket.read_exact(&mut bytes).await.unwrap();
    bytes
}

async fn pass(client: &mut (impl AsyncRead + AsyncWrite + Unpin), to: SocketAddr) {
    let mut origin = TcpStream::connect(to).await.unwrap();
    // Either side may just go.
    let _ = copy_bidirectional(client, &mut origin).await;
}

/// A proxy that says this to whoever connects and asks, and then waits until the client has gone.
pub(crate) async fn says(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            head(&mut socket).await;
            socket.write_all(answer).await.unwrap();
        }
    });
    address
}
