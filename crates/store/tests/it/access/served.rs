//! A store with users that listens, and clients that ask it over TLS.

use std::sync::OnceLock;

use alula::{Client, ClientBuilder, Identity, Response, Server};
use alula_store::access::{Access, Users, hash_password};
use alula_store::engine::Memory;
use alula_store::{Config, Store};
use serde_json::json;

/// The password of all users of the tests.
pub(crate) const PASSWORD: &str = "open sesame";

/// Its hash, which takes time to make.
pub(crate) fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash_password(PASSWORD.as_bytes()).expect("random bytes"))
}

/// The table of a user with that password, and what follows in it.
pub(crate) fn user(name: &str, rest: &str) -> String {
    format!("[users.{name}]\npassword = '{}'\n{rest}\n", hash())
}

/// The table of a user who may do this in all of the store.
pub(crate) fn user_with(name: &str, allow: &[&str]) -> String {
    match allow {
        [] => user(name, ""),
        _ => user(name, &format!("[[users.{name}.grants]]\nallow = {allow:?}")),
    }
}

pub(crate) fn users(text: &str) -> Users {
    Users::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A store that listens.
pub(crate) struct Served {
    port: u16,
    roots: String,
    pub(crate) access: Access,
}

impl Served {
    /// Starts a store with these users, and with a type `maps` and one `plain`.
    pub(crate) async fn start(text: &str) -> Self {
        Self::with(Access::new(users(text)).expect("random bytes")).await
    }

    pub(crate) async fn with(access: Access) -> Self {
        Self::asking(access, None).await
    }

    /// As [`with`](Self::with), asking clients for a certificate of this authority.
    pub(crate) async fn asking(access: Access, authority: Option<&str>) -> Self {
        let identity = Identity::self_signed(["localhost"]).expect("a certificate");
        let identity = match authority {
            Some(pem) => identity.client_authorities_pem(pem.as_bytes()).expect("an authority"),
            None => identity,
        };
        let mut config = Config::default();
        config.access = Some(access.clone());
        for (name, properties) in [("maps", json!({"datatype": "map"})), ("plain", json!({}))] {
            config.types.push((name.to_owned(), properties.as_object().expect("an object").clone()));
        }
        let roots = identity.certificate_pem().expect("self-signed").to_owned();
        let store = Store::open(Memory::new(), config).await.expect("types that can be");
        let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.expect("a port");
        let port = server.address().expect("an address").port();
        tokio::spawn(server.serve(store.routes().expect("routes that agree")));
        Self { port, roots, access }
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        let builder = Client::builder().resolve("localhost", self.port, [self.address()]);
        builder.add_roots_pem(self.roots.as_bytes()).expect("a certificate")
    }

    /// A client for each version, over TLS.
    pub(crate) fn clients(&self) -> [Client; 2] {
        [self.builder().http1_only(), self.builder().http2_only()]
            .map(|builder| builder.build().expect("a client"))
    }

    pub(crate) fn https(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    pub(crate) fn http(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// Asks as a user with the password of all.
    pub(crate) async fn ask(&self, client: &Client, user: &str, method: &str, path: &str) -> Response {
        let url = self.https(path);
        let call = client.request(method, &*url).redirects(0).basic_auth(user, PASSWORD);
        call.send().await.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }
}

/// The status and the text of an answer.
pub(crate) async fn said(mut response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    (status, response.text().await.expect("the whole content"))
}
