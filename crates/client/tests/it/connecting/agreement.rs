//! Which key agreement a client and a server come to, by what the server knows.

use std::{net::SocketAddr, sync::Arc};

use alula_client::Client;
use tokio::{io::AsyncWriteExt as _, net::TcpListener, task::JoinHandle};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs::kx_group;
use tokio_rustls::rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{HandshakeKind, NamedGroup, ServerConfig, SupportedProtocolVersion};

use crate::connecting::secure::Authority;
use crate::support::peer::{get, head};

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

/// A server for one connection, with these groups and this version.
async fn begin(
    authority: &Authority,
    groups: &[&'static dyn SupportedKxGroup],
    version: &'static SupportedProtocolVersion,
) -> (SocketAddr, JoinHandle<(NamedGroup, HandshakeKind)>) {
    let provider = CryptoProvider { kx_groups: groups.to_vec(), ..aws_lc_rs::default_provider() };
    let config = authority.server_with("a.example", provider, version);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    (listener.local_addr().unwrap(), tokio::spawn(serve(config, listener)))
}

/// Asks the server at this address, over a connection of a new client.
async fn ask(address: SocketAddr, root: &str) {
    let builder = Client::builder().no_proxy().resolve("a.example", 443, [address]);
    let client = builder.add_roots_pem(root.as_bytes()).unwrap().build().unwrap();
    assert_eq!(get(&client, "https://a.example/").await.unwrap(), "hello");
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
    let authority = Authority::new();
    for (groups, version, group, kind) in rows {
        let (address, server) = begin(&authority, groups, version).await;
        ask(address, &authority.pem()).await;
        assert_eq!(server.await.unwrap(), (group, kind), "{groups:?}, {:?}", version.version);
    }
}

/// aws-lc measures the jitter of the processor for 25 ms before it gives its first random byte. Before that,
/// it has a page of this process wiped should it fork, which tells on it. The client has a process of its
/// own, which runs this test again.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn aws_lc_is_asked_for_no_random_bytes() {
    const SERVER: &str = "ALULA_TEST_ASKS_AWS_LC";
    const ROOT: &str = "ALULA_TEST_ASKS_AWS_LC_ROOT";
    const THIS: &str = "connecting::agreement::aws_lc_is_asked_for_no_random_bytes";
    if let Ok(address) = std::env::var(SERVER) {
        ask(address.parse().unwrap(), &std::env::var(ROOT).unwrap()).await;
        return assert!(!has_asked_aws_lc());
    }
    let authority = Authority::new();
    for (groups, version) in [
        (aws_lc_rs::ALL_KX_GROUPS, &TLS13),
        (&[kx_group::X25519], &TLS13),
        (&[kx_group::SECP256R1], &TLS13),
        (&[kx_group::SECP384R1], &TLS12),
    ] {
        let (address, server) = begin(&authority, groups, version).await;
        let mut child = alula_testkit::again(THIS);
        child.env(SERVER, address.to_string()).env(ROOT, authority.pem());
        let test = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
        assert!(test.status.success(), "{groups:?}: {}", String::from_utf8_lossy(&test.stdout));
        server.await.unwrap();
    }
    assert!(has_asked_aws_lc(), "the servers here have");
}

/// Returns true if a page is wiped at forks (`wf`, proc(5)); one that may be dropped (`dp`) is the C
/// library's.
#[cfg(target_os = "linux")]
fn has_asked_aws_lc() -> bool {
    let pages = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut flags = pages.lines().filter_map(|line| line.strip_prefix("VmFlags:"));
    flags.any(|flags| flags.contains(" wf") && !flags.contains(" dp"))
}
