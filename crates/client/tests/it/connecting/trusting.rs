//! Servers that a client trusts and does not: by which roots, lists of revoked certificates and pinned keys.

use std::sync::Arc;

use alula_client::{Cause, Client, ClientBuilder, Phase};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::peer::{Heads, answer, get};

type Authority = CertifiedIssuer<'static, KeyPair>;

const MIDDLE: u64 = 5;
const LEAF: u64 = 7;

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// A root, an authority below it, and the certificate of a server below that.
struct Chain {
    root: Authority,
    middle: Authority,
    leaf: rcgen::Certificate,
    key: KeyPair,
}

impl Chain {
    fn new() -> Self {
        Self::with("root", |_| {})
    }

    /// A chain below another root.
    fn other() -> Self {
        Self::with("other root", |_| {})
    }

    /// A chain below a root of this name, with an authority in the middle that is changed so.
    fn with(root: &str, change: impl Fn(&mut CertificateParams)) -> Self {
        let key = || KeyPair::generate().unwrap();
        let root = CertifiedIssuer::self_signed(authority(root), key()).unwrap();
        let mut params = authority("middle");
        params.serial_number = Some(SerialNumber::from(MIDDLE));
        change(&mut params);
        let middle = CertifiedIssuer::signed_by(params, key(), &root).unwrap();
        let mut params = CertificateParams::new(["a.example".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(LEAF));
        let key = key();
        let leaf = params.signed_by(&key, &middle).unwrap();
        Self { root, middle, leaf, key }
    }

    /// The builder of a client for `https://a.example/`, which is the server of this chain.
    async fn serve(&self) -> ClientBuilder {
        serve(vec![self.leaf.der().clone(), self.middle.der().clone()], &self.key).await
    }

    async fn trusted(&self) -> ClientBuilder {
        self.serve().await.platform_roots(false).add_roots_pem(self.root.pem().as_bytes()).unwrap()
    }
}

async fn serve(chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> ClientBuilder {
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(socket).await {
                tokio::spawn(answer(stream, Heads::default()));
            }
        }
    });
    Client::builder().no_proxy().resolve("a.example", 443, [([127, 0, 0, 1], port).into()])
}

/// A list of an authority with these serial numbers in it, which holds until the year.
fn list(issuer: &Authority, revoked: &[u64], until: i32) -> String {
    let revoked = revoked.iter().map(|serial| RevokedCertParams {
        serial_number: SerialNumber::from(*serial),
        revocation_time: date_time_ymd(2024, 1, 1),
        reason_code: None,
        invalidity_date: None,
    });
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2024, 1, 1),
        next_update: date_time_ymd(until, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked.collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(issuer).unwrap().pem().unwrap()
}

/// The name of the cause that a call ends with, or the first word of what TLS says; nothing if it ends well.
async fn ends(builder: ClientBuilder) -> String {
    let error = match get(&builder.build().unwrap(), "https://a.example/").await {
        Ok(_) => return String::new(),
        Err(error) => error,
    };
    match error.cause() {
        Cause::Tls(error) => match &**error {
            tokio_rustls::rustls::Error::InvalidCertificate(why) => {
                let shown = format!("{why:?}");
                shown.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_owned()
            }
            other => format!("{other:?}"),
        },
        cause => format!("{cause:?}"),
    }
}

#[tokio::test]
async fn only_the_roots_that_are_given_are_trusted() {
    let chain = Chain::new();
    assert_eq!(ends(chain.trusted().await).await, "");
    let other = Chain::other();
    let builder = chain.serve().await.platform_roots(false);
    let client = builder.clone().build().unwrap();
    let error = get(&client, "https://a.example/").await.unwrap_err();
    assert_eq!(error.phase(), Phase::Build, "{error}");
    assert!(error.to_string().contains("the platform's are left out"), "{error}");
    assert_eq!(ends(builder.add_roots_pem(other.root.pem().as_bytes()).unwrap()).await, "UnknownIssuer");
}

/// The platform's roots are where the environment says, so it is set for a process of its own, which runs
/// this test again.
#[tokio::test]
async fn roots_of_the_platform_are_trusted_unless_they_are_left_out() {
    const SITE: &str = "ALULA_TEST_PLATFORM_ROOTS";
    const THIS: &str = "connecting::trusting::roots_of_the_platform_are_trusted_unless_they_are_left_out";
    if std::env::var_os(SITE).is_some() {
        return trust_the_platform().await;
    }
    let file = std::env::temp_dir().join(format!("alula-roots-{}.pem", std::process::id()));
    let mut child = alula_testkit::again(THIS);
    child.env(SITE, "1").env("SSL_CERT_FILE", &file).env_remove("SSL_CERT_DIR");
    let test = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
}

async fn trust_the_platform() {
    let (chain, other) = (Chain::new(), Chain::other());
    let file = std::env::var_os("SSL_CERT_FILE").unwrap();
    std::fs::write(&file, chain.root.pem()).unwrap();
    let also = |builder: ClientBuilder| builder.add_roots_pem(other.root.pem().as_bytes()).unwrap();
    assert_eq!(ends(chain.serve().await).await, "");
    assert_eq!(ends(also(chain.serve().await)).await, "");
    assert_eq!(ends(also(other.serve().await)).await, "");
    assert_eq!(ends(also(other.serve().await.platform_roots(false))).await, "");
    assert_eq!(ends(also(chain.serve().await.platform_roots(false))).await, "UnknownIssuer");
    assert_eq!(ends(also(chain.serve().await.platform_roots(false).platform_roots(true))).await, "");
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn revoked_certificates_are_not_trusted() {
    let chain = Chain::new();
    let forged = Chain::new();
    let (root, middle) = (&chain.root, &chain.middle);
    for (lists, expected) in [
        (vec![list(root, &[1], 4000), list(middle, &[1], 4000)], ""),
        (vec![list(root, &[LEAF], 4000), list(middle, &[MIDDLE], 4000)], ""),
        (vec![list(root, &[1], 4000), list(middle, &[1, LEAF], 4000)], "Revoked"),
        (vec![list(root, &[MIDDLE], 4000), list(middle, &[1], 4000)], "Revoked"),
        (vec![list(root, &[1], 4000)], "UnknownRevocationStatus"),
        (vec![list(middle, &[1], 4000)], "UnknownRevocationStatus"),
        (vec![list(root, &[1], 4000), list(middle, &[1], 2025)], "ExpiredRevocationListContext"),
        (
            vec![list(root, &[1], 4000), list(&forged.middle, &[1], 4000)],
            "InvalidCertRevocationList(BadSignature)",
        ),
    ] {
        let mut builder = chain.trusted().await;
        // One text or several are the same.
        for text in [&lists.concat()].into_iter().chain(lists.first()) {
            builder = builder.add_crls_pem(text.as_bytes()).unwrap();
        }
        assert_eq!(ends(builder).await, expected, "{lists:?}");
    }
}

#[tokio::test]
async fn a_list_does_not_count_for_a_client_that_trusts_anything() {
    let chain = Chain::new();
    let revoked = list(&chain.middle, &[LEAF], 4000);
    let builder = chain.trusted().await.add_crls_pem(revoked.as_bytes()).unwrap();
    assert_eq!(ends(builder.trust_anything()).await, "");
}

fn pin(key: &impl rcgen::PublicKeyData) -> [u8; 32] {
    use aws_lc_rs::digest::{SHA256, digest};
    digest(&SHA256, &key.subject_public_key_info()).as_ref().try_into().unwrap()
}

/// The pin of an authority's key, which only its certificate has.
fn pin_of(issuer: &Authority) -> [u8; 32] {
    use aws_lc_rs::digest::{SHA256, digest};
    let certificate = tokio_rustls::rustls::server::ParsedCertificate::try_from(issuer.der()).unwrap();
    digest(&SHA256, &certificate.subject_public_key_info()).as_ref().try_into().unwrap()
}

#[tokio::test]
async fn a_server_has_to_have_one_of_the_keys_that_are_pinned() {
    let chain = Chain::new();
    let (mine, middle, root) = (pin(&chain.key), pin_of(&chain.middle), pin_of(&chain.root));
    for (pins, expected) in [
        (vec![mine], ""),
        (vec![middle, mine], ""),
        (vec![middle], "PinMismatch"),
        (vec![root], "PinMismatch"),
        (vec![], "PinMismatch"),
    ] {
        let builders = [chain.trusted().await, chain.serve().await.trust_anything()];
        for builder in builders {
            assert_eq!(ends(builder.pin_public_keys(pins.clone())).await, expected, "{pins:?}");
        }
    }
    let both = chain.trusted().await.pin_public_keys([root]).pin_public_keys([mine]);
    assert_eq!(ends(both).await, "");
    // A pin is no reason to trust a certificate.
    let builder = chain.serve().await.platform_roots(false);
    let builder = builder.add_roots_pem(Chain::other().root.pem().as_bytes()).unwrap();
    assert_eq!(ends(builder.pin_public_keys([mine])).await, "UnknownIssuer");
}

#[tokio::test]
async fn pins_count_beside_a_verifier_that_is_given() {
    let chain = Chain::new();
    let mut roots = tokio_rustls::rustls::RootCertStore::empty();
    roots.add(chain.root.der().clone()).unwrap();
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
    let verifier = verifier.build().unwrap();
    for (key, expected) in [(pin(&chain.key), ""), (pin_of(&chain.root), "PinMismatch")] {
        let builder = chain.serve().await.server_verifier(verifier.clone()).pin_public_keys([key]);
        assert_eq!(ends(builder).await, expected);
    }
}

#[tokio::test]
async fn an_error_of_trust_says_what_is_wrong() {
    let chain = Chain::new();
    let revoked = list(&chain.root, &[1], 4000) + &list(&chain.middle, &[LEAF], 4000);
    let builder = chain.trusted().await.add_crls_pem(revoked.as_bytes()).unwrap();
    for (builder, sentence) in [
        (builder, "it was revoked, or one of its issuers was (RFC 5280 §5)"),
        (chain.trusted().await.pin_public_keys([]), "its public key is none of those that were pinned"),
    ] {
        let error = get(&builder.build().unwrap(), "https://a.example/").await.unwrap_err();
        assert_eq!(error.phase(), Phase::Handshake);
        let whole = format!("GET https://a.example/: certificate not trusted: {sentence}");
        assert_eq!(error.to_string(), whole);
    }
}

#[tokio::test]
async fn an_issuer_that_has_expired_is_not_trusted() {
    let chain = Chain::with("root", |middle| middle.not_after = date_time_ymd(2024, 1, 1));
    assert_eq!(ends(chain.trusted().await).await, "ExpiredContext");
}

/// A server's own certificate is trusted if it was added, be it an authority's, signed by itself or by
/// somebody unknown.
#[tokio::test]
async fn a_certificate_that_is_trusted_itself_has_to_be_valid() {
    let chain = Chain::new();
    let lists = list(&chain.root, &[1], 4000) + &list(&chain.middle, &[1], 4000);
    for (until, name, expected) in [
        (4000, "a.example", ""),
        (2024, "a.example", "ExpiredContext"),
        (4000, "b.example", "NotValidForNameContext"),
    ] {
        let key = KeyPair::generate().unwrap();
        let mut params = authority("self");
        params.subject_alt_names = vec![rcgen::SanType::DnsName(name.try_into().unwrap())];
        params.not_after = date_time_ymd(until, 1, 1);
        let own = params.self_signed(&key).unwrap();
        params.is_ca = IsCa::NoCa;
        let signed = params.signed_by(&key, &chain.middle).unwrap();
        for shown in [own, signed] {
            let builder = serve(vec![shown.der().clone(), chain.middle.der().clone()], &key).await;
            let builder = builder.platform_roots(false).add_roots_pem(shown.pem().as_bytes()).unwrap();
            assert_eq!(ends(builder.clone()).await, expected, "{until} {name}");
            if expected.is_empty() {
                let builder = builder.add_crls_pem(lists.as_bytes()).unwrap();
                assert_eq!(ends(builder).await, "UnknownRevocationStatus");
            }
        }
    }
}
