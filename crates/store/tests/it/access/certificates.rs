//! Users who are known by a certificate.

use alula::{Client, ClientBuilder};
use alula_store::access::Access;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::access::served::{PASSWORD, Served, said, user_with, users};

const KEY: &str = "/buckets/b/keys/k";

/// An authority that makes certificates for clients.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// The certificate of a client with its key, in PEM, and its SHA-256.
struct Shown {
    chain: String,
    key: String,
    digest: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn shown(&self, names: &[&str]) -> Shown {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let made = CertificateParams::new(names).unwrap().signed_by(&key, &self.0).unwrap();
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, made.der());
        let digest = digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":");
        Shown { chain: made.pem(), key: key.serialize_pem(), digest }
    }
}

fn clients(served: &Served, shown: &Shown) -> [Client; 2] {
    let build = |builder: ClientBuilder| {
        let builder = builder.identity_pem(shown.chain.as_bytes(), shown.key.as_bytes()).unwrap();
        builder.build().unwrap()
    };
    [build(served.builder().http1_only()), build(served.builder().http2_only())]
}

#[tokio::test]
async fn a_user_is_known_by_a_certificate() {
    let (authority, other) = (Authority::new(), Authority::new());
    let pinned = authority.shown(&["pinned.example"]);
    let named = authority.shown(&["Other.example", "Backup.Example"]);
    let nobody = authority.shown(&["nobody.example", "wild.backup.example"]);
    let foreign = other.shown(&["backup.example"]);
    let text = format!(
        "[users.pin]\ncertificates = ['sha256:{}']\n[[users.pin.grants]]\nallow = ['get']\n\
         [users.backup]\ncertificates = ['dns:backup.example']\n[[users.backup.grants]]\nallow = ['list']\n{}",
        pinned.digest,
        user_with("ann", &["put"]),
    );
    let access = Access::new(users(&text)).unwrap();
    let served = Served::asking(access, Some(&authority.0.pem())).await;
    for (shown, key, list) in [(&pinned, 404, 403), (&named, 403, 200), (&nobody, 401, 401)] {
        for client in clients(&served, shown) {
            for (path, status) in [(KEY, key), ("/buckets/b/keys?keys=true", list)] {
                let (got, text) = said(client.get(served.https(path)).send().await.unwrap()).await;
                assert_eq!(got, status, "{path}: {text}");
            }
            // Credentials that are sent go before the certificate, right or wrong.
            let ann = client.get(served.https(KEY)).basic_auth("ann", PASSWORD);
            assert!(said(ann.send().await.unwrap()).await.1.contains("user 'ann' does not have 'get'"));
            let wrong = client.get(served.https(KEY)).basic_auth("ann", "wrong");
            assert_eq!(wrong.send().await.unwrap().status(), 401);
        }
    }
    // A name of the file does not make a certificate of another authority.
    for client in clients(&served, &foreign) {
        client.get(served.https(KEY)).send().await.expect_err("an authority that is not trusted");
    }
    for client in served.clients() {
        assert_eq!(client.get(served.https(KEY)).send().await.unwrap().status(), 401, "no certificate");
        assert_eq!(served.ask(&client, "ann", "GET", KEY).await.status(), 403);
    }
    let clear = Client::new().unwrap().get(served.http(KEY)).send().await.unwrap();
    assert_eq!(clear.status(), 426);
    // A connection that stays open is of nobody once the user is gone.
    let [client, _] = clients(&served, &pinned);
    assert_eq!(client.get(served.https(KEY)).send().await.unwrap().status(), 404);
    served.access.replace(users(&user_with("ann", &["get"]))).unwrap();
    assert_eq!(client.get(served.https(KEY)).send().await.unwrap().status(), 401);
}

/// A session that is taken up again is of the client that began it.
#[tokio::test]
async fn a_session_that_is_resumed_keeps_its_certificate() {
    let authority = Authority::new();
    let shown = authority.shown(&["backup.example"]);
    let text =
        "[users.backup]\ncertificates = ['dns:backup.example']\n[[users.backup.grants]]\nallow = ['get']";
    let served = Served::asking(Access::new(users(text)).unwrap(), Some(&authority.0.pem())).await;
    let builder = served.builder().http1_only().idle_max(0);
    let client = builder.identity_pem(shown.chain.as_bytes(), shown.key.as_bytes()).unwrap().build().unwrap();
    let mut resumed = 0;
    for _ in 0..4 {
        let mut response = client.get(served.https(KEY)).send().await.unwrap();
        assert_eq!(response.status(), 404);
        resumed += usize::from(response.tls().unwrap().is_resumed());
        response.text().await.unwrap();
    }
    assert!(resumed > 0);
}
