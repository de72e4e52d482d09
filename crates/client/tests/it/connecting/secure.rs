//! TLS: whom the client names, what it shows, what it resumes.

use std::{sync::Arc, time::Duration};

use alula_client::{Client, ClientBuilder, Destination, Phase, Transport};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{
    CipherSuite, HandshakeKind, NamedGroup, RootCertStore, ServerConfig, SupportedProtocolVersion, version,
};
use tokio_rustls::server::TlsStream;

use crate::support::peer::{Heads, answer, get, head};

/// Who signs certificates for a test.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub(crate) struct Signed {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn sign(&self, name: &str) -> Signed {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        Signed { certificate: params.signed_by(&key, &self.0).unwrap(), key }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        Arc::new(roots)
    }

    /// A server of this name, which speaks HTTP/1.1.
    pub(crate) fn server(&self, name: &str) -> ServerConfig {
        self.server_for(name, None)
    }

    /// The same with this cryptography and version.
    pub(crate) fn server_with(
        &self,
        name: &str,
        provider: CryptoProvider,
        version: &'static SupportedProtocolVersion,
    ) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(Arc::new(provider));
        let builder = builder.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
        let Signed { certificate, key } = self.sign(name);
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        builder.with_single_cert(vec![certificate.der().clone()], key).unwrap()
    }

    fn server_for(&self, name: &str, clients: Option<&Authority>) -> ServerConfig {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone());
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(authority.roots(), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let Signed { certificate, key } = self.sign(name);
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

/// What a server has seen of the handshake before a request.
#[derive(Debug)]
struct Seen {
    name: Option<String>,
    kind: Option<HandshakeKind>,
    certificate: Option<Vec<u8>>,
}

/// Answers one request on each connection, and tells what it has seen of those who asked.
async fn serve(config: ServerConfig) -> (u16, UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = unbounded_channel();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, tell) = (acceptor.clone(), tell.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(socket).await {
                    answer_one(stream, &tell).await;
                }
            });
        }
    });
    (port, told)
}

async fn answer_one(mut stream: TlsStream<TcpStream>, tell: &UnboundedSender<Seen>) {
    if head(&mut stream).await.is_none() {
        return;
    }
    let session = stream.get_ref().1;
    let certificate = session.peer_certificates().map(|certificates| certificates[0].to_vec());
    let name = session.server_name().map(str::to_owned);
    // Who does not want to know is gone.
    let _ = tell.send(Seen { name, kind: session.handshake_kind(), certificate });
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    stream.write_all(answer).await.unwrap();
    let _ = stream.shutdown().await;
}

fn trusting(authority: &Authority, port: u16) -> ClientBuilder {
    let here = ([127, 0, 0, 1], port).into();
    let builder = Client::builder().no_proxy().resolve("a.example", 443, [here]);
    builder.add_roots_pem(authority.pem().as_bytes()).unwrap()
}

#[tokio::test]
async fn the_second_handshake_resumes_the_first() {
    let authority = Authority::new();
    let (port, mut seen) = serve(authority.server("a.example")).await;
    let client = trusting(&authority, port).build().unwrap();
    let mut kinds = Vec::new();
    for _ in 0..2 {
        assert_eq!(get(&client, "https://a.example/").await.unwrap(), "hello");
        kinds.push(seen.recv().await.unwrap().kind);
    }
    assert_eq!(kinds, [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]);
    // Another client has nothing to resume.
    let client = trusting(&authority, port).build().unwrap();
    get(&client, "https://a.example/").await.unwrap();
    assert_eq!(seen.recv().await.unwrap().kind, Some(HandshakeKind::Full));
}

#[tokio::test]
async fn a_client_shows_its_certificate_to_who_asks() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let (port, mut seen) = serve(authority.server_for("a.example", Some(&clients))).await;
    let Signed { certificate, key } = clients.sign("somebody");
    let client = trusting(&authority, port)
        .identity_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes())
        .unwrap()
        .build()
        .unwrap();
    get(&client, "https://a.example/").await.unwrap();
    assert_eq!(seen.recv().await.unwrap().certificate.unwrap(), &**certificate.der());
    let unknown = trusting(&authority, port).build().unwrap();
    get(&unknown, "https://a.example/").await.unwrap_err();
}

#[test]
fn identities_that_are_none_are_refused() {
    let clients = Authority::new();
    let [one, other] = ["one", "other"].map(|name| clients.sign(name));
    let show = |chain: &str, key: &str| Client::builder().identity_pem(chain.as_bytes(), key.as_bytes());
    assert!(show(&one.certificate.pem(), "").is_err());
    assert!(show("", &one.key.serialize_pem()).is_err());
    let error = show(&one.certificate.pem(), &other.key.serialize_pem()).err().unwrap();
    assert_eq!(error.phase(), Phase::Build, "{error}");
    assert_eq!(error.to_string(), "the private key does not belong to the certificate");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let error = show(garbage, &one.key.serialize_pem()).err().unwrap();
    assert!(error.to_string().contains("a certificate that cannot be read"), "{error}");
}

#[tokio::test]
async fn another_name_can_be_asked_for() {
    let authority = Authority::new();
    let (port, mut seen) = serve(authority.server("b.example")).await;
    let client = trusting(&authority, port).build().unwrap();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Handshake, "{error}");
    let client = trusting(&authority, port).server_name("b.example").unwrap().build().unwrap();
    get(&client, "https://a.example/").await.unwrap();
    assert_eq!(seen.recv().await.unwrap().name.as_deref(), Some("b.example"));
    assert!(Client::builder().server_name("no name").is_err());
}

#[tokio::test]
async fn old_versions_can_be_refused() {
    let authority = Authority::new();
    let Signed { certificate, key } = authority.sign("a.example");
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key);
    let (port, _seen) = serve(config.unwrap()).await;
    let client = trusting(&authority, port).build().unwrap();
    assert_eq!(get(&client, "https://a.example/").await.unwrap(), "hello");
    let client = trusting(&authority, port).tls13_only().build().unwrap();
    assert_eq!(get(&client, "https://a.example/").await.unwrap_err().phase(), Phase::Handshake);
}

#[tokio::test]
async fn suites_and_groups_that_are_named_are_offered_alone() {
    let authority = Authority::new();
    let Signed { certificate, key } = authority.sign("a.example");
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites.retain(|suite| suite.suite() == CipherSuite::TLS13_AES_256_GCM_SHA384);
    provider.kx_groups.retain(|group| group.name() == NamedGroup::secp256r1);
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key);
    let (port, _seen) = serve(config.unwrap()).await;
    for (suite, group, is_agreed) in [
        (CipherSuite::TLS13_AES_256_GCM_SHA384, NamedGroup::secp256r1, true),
        (CipherSuite::TLS13_AES_128_GCM_SHA256, NamedGroup::secp256r1, false),
        (CipherSuite::TLS13_AES_256_GCM_SHA384, NamedGroup::X25519, false),
        (CipherSuite::TLS_NULL_WITH_NULL_NULL, NamedGroup::X25519, false),
    ] {
        let builder = trusting(&authority, port).cipher_suites([suite]).key_agreement_groups([group]);
        let client = builder.build().unwrap();
        assert_eq!(get(&client, "https://a.example/").await.is_ok(), is_agreed, "{suite:?} {group:?}");
    }
}

#[tokio::test]
async fn tls_is_spoken_over_what_a_connector_returns() {
    let authority = Authority::new();
    let acceptor = TlsAcceptor::from(Arc::new(authority.server("a.example")));
    let connector = move |_: &Destination| {
        let acceptor = acceptor.clone();
        async move {
            let (near, far) = tokio::io::duplex(50);
            tokio::spawn(async move { answer(acceptor.accept(far).await.unwrap(), Heads::default()).await });
            Ok(Box::new(near) as Box<dyn Transport>)
        }
    };
    let builder = Client::builder().add_roots_pem(authority.pem().as_bytes()).unwrap();
    let client = builder.connector(connector).build().unwrap();
    assert_eq!(get(&client, "https://a.example/").await.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_shake_hands_is_given_up() {
    let kept = Arc::new(std::sync::Mutex::new(Vec::<DuplexStream>::new()));
    let connector = move |_: &Destination| {
        let (near, far) = tokio::io::duplex(10_000);
        kept.lock().unwrap().push(far);
        async { Ok(Box::new(near) as Box<dyn Transport>) }
    };
    let builder = Client::builder().trust_anything().handshake_timeout(Duration::from_secs(3));
    let client = builder.connector(connector).build().unwrap();
    let began = tokio::time::Instant::now();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert_eq!((error.phase(), error.is_timeout()), (Phase::Handshake, true), "{error}");
    assert_eq!(began.elapsed().as_secs(), 3);
}

/// The environment is read when the configuration is made, so it is set for a process of its own, which runs
/// this test again.
#[tokio::test]
async fn secrets_are_logged_where_the_environment_says_if_asked_for() {
    const IS_CHILD: &str = "ALULA_TEST_LOGS_SECRETS";
    const THIS: &str = "connecting::secure::secrets_are_logged_where_the_environment_says_if_asked_for";
    if std::env::var_os(IS_CHILD).is_some() {
        return call_once_of_each_kind().await;
    }
    let folder = std::env::temp_dir().join(format!("alula-key-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("keys");
    let mut child = alula_testkit::again(THIS);
    child.env(IS_CHILD, "1").env("SSLKEYLOGFILE", &log);
    let test = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
    let lines = std::fs::read_to_string(&log).unwrap();
    let of_clients = lines.lines().filter(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 "));
    assert_eq!(of_clients.count(), 1, "{lines}");
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn call_once_of_each_kind() {
    let authority = Authority::new();
    let (port, _seen) = serve(authority.server("a.example")).await;
    let silent = trusting(&authority, port).build().unwrap();
    get(&silent, "https://a.example/").await.unwrap();
    let logging = trusting(&authority, port).key_log_from_environment().build().unwrap();
    get(&logging, "https://a.example/").await.unwrap();
}

#[tokio::test]
async fn certificates_are_for_addresses_without_zones() {
    let authority = Authority::new();
    let (port, mut seen) = serve(authority.server("::1")).await;
    let here = ([127, 0, 0, 1], port).into();
    let client = trusting(&authority, port).resolve("::1", 443, [here]).build().unwrap();
    for url in ["https://[::1]/", "https://[::1%251]/", "https://[::1%1]/"] {
        assert_eq!(get(&client, url).await.unwrap(), "hello", "{url}");
        assert_eq!(seen.recv().await.unwrap().name, None, "an address is not named (RFC 6066 §3)");
    }
}
