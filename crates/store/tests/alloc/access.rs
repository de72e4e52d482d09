//! A request with credentials that were found right before allocates nothing over HTTP, on both versions;
//! over TLS neither that nor one that is known by its certificate allocates anything beside what rustls does.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more
//! is what N requests cost.

use std::{future::Future, sync::mpsc, thread};

use crate::sunk::Sunk;
use alula::{Client, FieldSection, Hook, Identity, Server, Status};
use alula_store::access::{Access, Users, hash_password};
use alula_store::{Config, Store};
use alula_tally::Side;
use alula_testkit::Windows;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

const WARM_UP: usize = 1_000;
const REQUESTS: usize = 100;
const PASSWORD: &str = "open sesame";
const PATH: &str = "/buckets/b/keys/k";

/// A client's certificate with its key, and the authority's, in PEM.
struct Shown {
    chain: String,
    key: String,
    authority: String,
}

fn shown() -> Shown {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["other.example".to_owned(), "Backup.example".to_owned()];
    let made = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    Shown { chain: made.pem(), key: key.serialize_pem(), authority: authority.pem() }
}

fn users() -> Users {
    let hash = hash_password(PASSWORD.as_bytes()).unwrap();
    let grant = |name: &str| {
        format!(
            "requests-per-second = 1000000\n[[users.{name}.grants]]\nallow = ['get', 'put']\ntype = 'default'\nbucket = 'b'\n"
        )
    };
    let ann = format!("[users.ann]\npassword = '{hash}'\n{}", grant("ann"));
    let backup = format!("[users.backup]\ncertificates = ['dns:backup.example']\n{}", grant("backup"));
    Users::parse(&(ann + &backup)).unwrap()
}

/// The way in which a client shows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Not at all, to a store that lets everybody in.
    Nothing,
    Password,
    Certificate,
}

/// A request to the store over TLS without users costs what rustls allocates for its records, one each way.
const OF_TLS: i64 = 2 * REQUESTS as i64;

const CASES: [(&str, By, i64); 4] = [
    ("https", By::Nothing, OF_TLS),
    ("https", By::Password, OF_TLS),
    ("https", By::Certificate, OF_TLS),
    ("http", By::Password, 0),
];

pub(crate) fn requests_of_known_users_cost_no_allocation() {
    assert!(alula_tally::is_installed());
    let shown = shown();
    let open = serve(shown.authority.clone(), None);
    let closed = serve(shown.authority.clone(), Some(Access::in_clear_text(users()).unwrap()));
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            for (scheme, by, expected) in CASES {
                let (port, roots) = if by == By::Nothing { &open } else { &closed };
                let builder = Client::builder().add_roots_pem(roots.as_bytes()).unwrap();
                let builder = builder.resolve("localhost", *port, [([127, 0, 0, 1], *port).into()]);
                let builder = if http2 { builder.http2_only() } else { builder.http1_only() };
                let builder = match by {
                    By::Certificate => {
                        builder.identity_pem(shown.chain.as_bytes(), shown.key.as_bytes()).unwrap()
                    }
                    By::Nothing | By::Password => builder,
                };
                let client = builder.http2_prior_knowledge(http2).build().unwrap();
                let url = format!("{scheme}://localhost:{port}{PATH}");
                ask(&client, &url, by, "PUT", 1).await;
                ask(&client, &url, by, "GET", WARM_UP).await;
                let mut windows = Windows::expecting(expected);
                while windows.are_open() {
                    let one = cost(&client, &url, by, REQUESTS).await;
                    windows.add(cost(&client, &url, by, 2 * REQUESTS).await as i64 - one as i64);
                }
                println!(
                    "HTTP/2 {http2}, {scheme}, {by:?}: {:?} allocations for {REQUESTS}",
                    windows.costs()
                );
                if !windows.are_met() {
                    failures.push((http2, scheme, by));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
}

async fn cost(client: &Client, url: &str, by: By, requests: usize) -> u64 {
    let before = alula_tally::side(Side::SERVER);
    ask(client, url, by, "GET", requests).await;
    (alula_tally::side(Side::SERVER) - before).allocations
}

async fn ask(client: &Client, url: &str, by: By, method: &str, requests: usize) {
    for _ in 0..requests {
        let call = client.request(method, url).header("content-type", "text/plain");
        let call = if by == By::Password { call.basic_auth("ann", PASSWORD) } else { call };
        let call = if method == "PUT" { call.body("the value") } else { call };
        let mut response = call.send().await.unwrap();
        assert_eq!(response.status(), if method == "PUT" { 204 } else { 200 });
        while response.body().chunk().await.unwrap().is_some() {}
    }
}

/// Starts the server on a thread of its own, and returns its port and its certificate.
fn serve(authority: String, access: Option<Access>) -> (u16, String) {
    let (tell, port) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let mut config = Config::default();
            config.access = access;
            let store = Store::open(Sunk::default(), config).await.unwrap();
            let identity = Identity::self_signed(["localhost"]).unwrap();
            let identity = identity.client_authorities_pem(authority.as_bytes()).unwrap();
            let pem = identity.certificate_pem().unwrap().to_owned();
            let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
            tell.send((server.address().unwrap().port(), pem)).unwrap();
            server.serve(store.router().hook(Dated).build().unwrap()).await.unwrap();
        });
    });
    port.recv().unwrap()
}

/// Gives all answers one date: that of every second would enter HPACK's table.
struct Dated;

impl Hook for Dated {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        headers.set("date", "Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
    }
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
