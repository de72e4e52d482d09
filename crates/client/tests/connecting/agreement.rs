//! Which key agreement a client and a server come to, by what the server knows.

use std::sync::Arc;

use alula_client::Client;
use tokio::{io::AsyncWriteExt as _, net::TcpListener};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        HandshakeKind, NamedGroup, ServerConfig, SupportedProtocolVersion,
        crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs, aws_lc_rs::kx_group},
        version::{TLS12, TLS13},
    },
};

use crate::{
    peer::{get, head},
    secure::Authority,
};

/// Serves one connection; tells the agreement, and whether the client had to be asked for another share.
async fn serve(config: ServerConfig, listener: TcpListener) -> (NamedGroup, HandshakeKind) {
    let (socket, _) = listener.accept().await.unwrap();
    let mut stream = TlsAcceptor::from(Arc::new(config)).accept(socket).await.unwrap();
    head(&mut stream).await.unwrap();
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    stream.write_all(answer).await.unwrap();
    stream.shutdown().await.unwrap();
    let session = stream.get_ref().1;
    (session.negotiated_key_exchange_group().unwrap().name(), session.handshake_kind().unwrap())
}

async fn agreed(
    groups: &[&'static dyn SupportedKxGroup],
    version: &'static SupportedProtocolVersion,
) -> (NamedGroup, HandshakeKind) {
    let provider = CryptoProvider { kx_groups: groups.to_vec(), ..aws_lc_rs::default_provider() };
    let authority = Authority::new();
    let config = authority.server_with("a.example", provider, version);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(serve(config, listener));
    let builder = Client::builder().no_proxy().resolve("a.example", 443, [address]);
    let client = builder.add_roots_pem(authority.pem().as_bytes()).unwrap().build().unwrap();
    assert_eq!(get(&client, "https://a.example/").await.unwrap(), "hello");
    server.await.unwrap()
}

#[tokio::test]
async fn the_hybrid_is_what_a_client_offers_first() {
    use HandshakeKind::{Full, FullWithHelloRetryRequest as Retried};
    let rows: [(&[&'static dyn SupportedKxGroup], _, _, _); 7] = [
        (aws_lc_rs::ALL_KX_GROUPS, &TLS13, NamedGroup::X25519MLKEM768, Full),
        (&[kx_group::X25519], &TLS13, NamedGroup::X25519, Full),
        (&[kx_group::SECP256R1], &TLS13, NamedGroup::secp256r1, Retried),
        (&[kx_group::SECP384R1], &TLS13, NamedGroup::secp384r1, Retried),
        (aws_lc_rs::ALL_KX_GROUPS, &TLS12, NamedGroup::X25519, Full),
        (&[kx_group::SECP256R1], &TLS12, NamedGroup::secp256r1, Full),
        (&[kx_group::SECP384R1], &TLS12, NamedGroup::secp384r1, Full),
    ];
    for (groups, version, group, kind) in rows {
        assert_eq!(agreed(groups, version).await, (group, kind), "{groups:?}, {:?}", version.version);
    }
}
