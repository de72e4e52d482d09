//! A client and a server that are joined in memory, for tests without a network.
//!
//! [`client`] is all that most tests need: every connection of the client that it returns leads to the handler, whatever host and
//! port the URL names. Nothing is looked up and no socket is opened, so it works on a paused clock of tokio,
//! and several tests never meet on a port.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), alula::Error> {
//! use alula::{Exchange, Status};
//!
//! let client = alula::testing::client(async |exchange: Exchange| {
//!     let path = exchange.request().path().to_owned();
//!     exchange.respond(Status::OK).send(format!("This is {path}.")).await
//! });
//! let mut response = client.get("http://test/todos").send().await?;
//! assert_eq!(response.status(), 200);
//! assert_eq!(response.text().await?, "This is /todos.");
//! # Ok(())
//! # }
//! ```
//!
//! A [`TestServer`] has settings: limits, the version, and a [`Wire`] for each direction, which cuts what is
//! written into pieces and breaks where a test wants it.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use alula::{Exchange, Status, testing::{TestServer, Wire}};
//!
//! let handler = |exchange: Exchange| exchange.respond(Status::OK).send("Hello, World!");
//! // The connection breaks within the head of the answer.
//! let server = TestServer::new(handler).to_client(Wire::new().pieces_of(1).reset_after(20));
//! assert!(server.client().get("http://test/").send().await.is_err());
//! # }
//! ```

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering::Relaxed},
    },
};

pub use alula_server::{PipeEnd, Wire};

use crate::{
    Client, ClientBuilder, ConnectionServer, Destination, Error, IntoService, ServerBuilder, Transport,
    TransportFacts,
};

/// Returns a client whose every connection leads to this handler, or to the routes of a router, in HTTP/1.1.
/// The same as `TestServer::new(handler).client()`.
///
/// # Panics
/// As [`TestServer::client`].
pub fn client(handler: impl IntoService) -> Client {
    TestServer::new(handler).client()
}

/// A server in memory: each connection of its clients is a task of its own on the runtime of the call that
/// opens it.
///
/// Once it was [stopped](ConnectionServer::stop), new connections are refused. Clients keep it alive; what is
/// set applies to the clients that are made afterwards. A connection costs some allocations when it is
/// opened; requests on a warm one cost what they do over a socket, without the system calls.
#[derive(Debug)]
pub struct TestServer {
    server: ConnectionServer,
    dialled: Dialled,
    is_http2: bool,
}

/// The conditions of the connections of a client.
#[derive(Clone, Debug)]
struct Dialled {
    facts: TransportFacts,
    to_server: Wire,
    to_client: Wire,
    /// The connections that were opened so far, of all clients.
    opened: Arc<AtomicU16>,
}

impl TestServer {
    /// Returns a server with the default settings.
    pub fn new(handler: impl IntoService) -> Self {
        Self::with(ServerBuilder::default(), handler)
    }

    /// Returns a server with these settings, such as [`limits`](ServerBuilder::limits).
    pub fn with(settings: ServerBuilder, handler: impl IntoService) -> Self {
        let dialled = Dialled {
            facts: TransportFacts::new(),
            to_server: Wire::new(),
            to_client: Wire::new(),
            opened: Arc::default(),
        };
        Self { server: settings.build(handler), dialled, is_http2: false }
    }

    /// Makes clients speak HTTP/2 with prior knowledge (RFC 9113 §3.3); they speak HTTP/1.1 unless this is
    /// called.
    #[must_use]
    pub fn http2(mut self) -> Self {
        self.is_http2 = true;
        self
    }

    /// Sets how bytes of clients get to the server.
    #[must_use]
    pub fn to_server(mut self, wire: Wire) -> Self {
        self.dialled.to_server = wire;
        self
    }

    /// Sets how bytes of the server get to clients.
    #[must_use]
    pub fn to_client(mut self, wire: Wire) -> Self {
        self.dialled.to_client = wire;
        self
    }

    /// Sets what the server is told of its connections, such as the address of the peer or that the transport
    /// is secure. Unless an address is among it, peers are at 127.0.0.1 with a port for each connection, from
    /// 49152 on.
    #[must_use]
    pub fn facts(mut self, facts: TransportFacts) -> Self {
        self.dialled.facts = facts;
        self
    }

    /// Returns a client with the default settings.
    ///
    /// # Panics
    /// The client cannot be made, which takes a bug.
    pub fn client(&self) -> Client {
        self.client_with(Client::builder()).expect("the default settings are in order")
    }

    /// Returns a client with these settings. All its connections lead to this server; for `https://` the
    /// server needs an
    /// [identity](ServerBuilder::identity) that the client trusts.
    ///
    /// # Errors
    /// As [`ClientBuilder::build`].
    pub fn client_with(&self, settings: ClientBuilder) -> Result<Client, Error> {
        let (server, dialled) = (self.server.clone(), self.dialled.clone());
        let connector = move |_: &Destination| {
            let connected = match server.is_stopping() {
                true => Err(io::ErrorKind::ConnectionRefused.into()),
                false => Ok(Box::new(dialled.connect(&server)) as Box<dyn Transport>),
            };
            std::future::ready(connected)
        };
        let settings = if self.is_http2 { settings.http2_prior_knowledge(true) } else { settings };
        settings.connector(connector).build()
    }

    /// Opens a connection and returns its other end, for peers that a test plays itself, byte by byte.
    ///
    /// # Panics
    /// There is no runtime of tokio.
    pub fn connect(&self) -> PipeEnd {
        self.dialled.connect(&self.server)
    }

    /// Returns the server, to look at its [ledger](ConnectionServer::ledger), to
    /// [stop](ConnectionServer::stop) it and to wait until its connections have ended.
    pub fn server(&self) -> &ConnectionServer {
        &self.server
    }
}

impl Dialled {
    fn connect(&self, server: &ConnectionServer) -> PipeEnd {
        const FIRST_PORT: u16 = 49152;
        let port = FIRST_PORT | self.opened.fetch_add(1, Relaxed);
        let facts = match self.facts.peer_address() {
            Some(_) => self.facts,
            None => self.facts.peer(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        };
        let (near, far) = alula_server::pipe(self.to_server.clone(), self.to_client.clone());
        server.spawn_connection(far, facts);
        near
    }
}
