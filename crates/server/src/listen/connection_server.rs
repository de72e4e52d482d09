//! A server without a listener: it serves connections that the program hands over.

use std::{
    net::{Ipv4Addr, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
};

use alula_net::{Accept, Conn, Error, Ledger, Socket, Transport, TransportFacts};

use crate::{
    connection::{
        endpoint::Endpoint,
        slots::Tables,
        table::{Connections, Registration},
        task::Serve,
    },
    exchange::scheme::TrustedProxies,
    observe::{
        observing,
        reporting::{OnError, Reporter, tell_handshake},
    },
};

/// A server without a listener, for connections over any transport that the program provides. Made by
/// [`ServerBuilder::build`](crate::ServerBuilder::build).
///
/// All connections share its limits and its [ledger](Self::ledger). Clones are the same server; cloning does
/// not allocate.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use alula::{Exchange, Server, Status, TransportFacts};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let hello = |exchange: Exchange| exchange.respond(Status::OK).send("Hello, World!");
/// let server = Server::builder().build(hello);
/// let (mut near, far) = tokio::io::duplex(4096);
/// let facts = TransportFacts::new().peer(([192, 0, 2, 7], 49152));
/// let connection = tokio::spawn(server.serve_connection(far, facts));
///
/// near.write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await?;
/// let mut answer = String::new();
/// near.read_to_string(&mut answer).await?;
/// assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("Hello, World!"));
/// drop(near);
/// connection.await??;
/// assert_eq!(server.ledger().memory_held(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ConnectionServer {
    pub(crate) settings: Arc<Settings>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) endpoint: Arc<dyn Endpoint>,
}

/// The settings and counts that all connections of a server share.
pub(crate) struct Settings {
    pub(crate) accept: Accept,
    pub(crate) proxies: TrustedProxies,
    pub(crate) on_error: Option<OnError>,
    /// The memory for requests that earlier connections have left.
    pub(crate) tables: Arc<Tables>,
}

impl ConnectionServer {
    /// Serves the requests of one connection until it has ended. It must be polled on a tokio runtime with
    /// time.
    ///
    /// The version is found as on a listener: TLS if the server has an identity and the first byte is 0x16
    /// (RFC 8446 §5.1), HTTP/2 with prior knowledge if the connection begins with its preface (RFC 9113
    /// §3.4), else HTTP/1.1; unless `facts` say which it is. While there are as many connections as
    /// `Limits::connections_max` allows, it waits until an idle one has made room.
    ///
    /// A connection allocates when it begins, and nothing per request once warm unless the transport does.
    ///
    /// Dropping the future ends the connection at once; the handlers of its requests are dropped.
    ///
    /// # Errors
    /// The connection failed before its first request: TLS, the transport, the deadline of the handshake, or
    /// a version that is not spoken. Failures of requests are told to
    /// [`on_error`](crate::ServerBuilder::on_error). A connection that comes after
    /// [`stop`](Self::stop), or that makes room for another, ends without an error.
    pub fn serve_connection<T: Transport + 'static>(
        &self,
        transport: T,
        facts: TransportFacts,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<T> {
        let Self { settings, connections, endpoint } = self.clone();
        let transport: Box<dyn Transport> = Box::new(transport);
        async move {
            let peer = address_of(&facts);
            let Some(registration) = connections.enter_when_room(peer).await else { return Ok(()) };
            let socket = Socket::from(transport).with_facts(facts.peer(peer));
            connection(open(settings, endpoint, socket, facts.is_secure(), registration)).await
        }
    }

    /// Serves a connection like [`serve_connection`](Self::serve_connection), in a task on the current
    /// runtime. A connection that fails before its first request is told to
    /// [`on_error`](crate::ServerBuilder::on_error) and to `tracing`.
    ///
    /// # Panics
    /// There is no runtime.
    pub fn spawn_connection(&self, transport: impl Transport + 'static, facts: TransportFacts) {
        let (served, on_error) = (self.serve_connection(transport, facts), self.settings.on_error.clone());
        tokio::spawn(async move { tell_refused(on_error.as_ref(), address_of(&facts), &served.await) });
    }

    /// Returns the memory held and the rules broken, over all connections.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.settings.accept.ledger.clone()
    }

    /// Stops gracefully: every connection tells its peer (GOAWAY, or `connection: close`) and ends when its
    /// requests are answered. Connections that come later end at once. Returns without waiting; see
    /// [`all_ended`](Self::all_ended).
    pub fn stop(&self) {
        self.connections.stop();
    }

    /// Returns true after it was told to stop.
    pub fn is_stopping(&self) -> bool {
        self.connections.has_stopped()
    }

    /// Waits until no connection is left. To be called after [`stop`](Self::stop), and mostly with a time
    /// limit: a peer that asks for nothing more may take its time to close its side.
    ///
    /// Dropping the future loses nothing.
    pub async fn all_ended(&self) {
        self.connections.all_left().await;
    }
}

/// Serves an accepted connection in its own task.
pub(crate) fn served(
    settings: Arc<Settings>,
    endpoint: Arc<dyn Endpoint>,
    (socket, peer): (Socket, SocketAddr),
    registration: Registration,
) -> impl Future<Output = ()> + Send {
    let on_error = settings.on_error.clone();
    let opened = open(settings, endpoint, socket, false, registration);
    async move { tell_refused(on_error.as_ref(), peer, &connection(opened).await) }
}

/// Returns the address under which a connection is counted.
fn address_of(facts: &TransportFacts) -> SocketAddr {
    facts.peer_address().unwrap_or_else(|| SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))
}

/// Reports a failed handshake; the peer was told the reason if possible.
fn tell_refused(on_error: Option<&OnError>, peer: SocketAddr, served: &Result<(), Error>) {
    if let Err(error) = served {
        observing::refused(peer, error);
        tell_handshake(on_error, peer, error);
    }
}

/// Serves a connection: the handshake, then the requests. Each has a box of its own, so that nothing is left
/// of the handshake when it is over, and a task that is spawned, which moves it several times, is small.
async fn connection(opened: Pin<Box<impl Future<Output = Opened>>>) -> Result<(), Error> {
    let requests = opened.await?;
    if let Some(requests) = requests {
        requests.await;
    }
    Ok(())
}

/// The service of a connection's requests, or nothing if it was asked to leave during the handshake.
type Opened = Result<Option<Pin<Box<Serve>>>, Error>;

/// Performs the handshake of a connection.
fn open(
    settings: Arc<Settings>,
    endpoint: Arc<dyn Endpoint>,
    socket: Socket,
    is_secure: bool,
    mut registration: Registration,
) -> Pin<Box<impl Future<Output = Opened> + Send>> {
    Box::pin(async move {
        let opened = {
            let (begun, observer) = (registration.arrived(), registration.observer());
            let opened = pin!(settings.accept.open_observed(socket, begun, Some(observer)));
            registration.unless_asked_to_leave(opened).await
        };
        let conn = opened.transpose()?;
        Ok(conn.map(|conn| settings.serve(conn, is_secure, endpoint, registration)))
    })
}

impl Settings {
    /// Returns the same settings for connections with other handlers, which are in the tables.
    pub(crate) fn anew(&self) -> Arc<Self> {
        let (accept, proxies) = (self.accept.clone(), self.proxies.clone());
        Arc::new(Self { accept, proxies, on_error: self.on_error.clone(), tables: Tables::new() })
    }

    /// Serves the requests of a connection.
    fn serve(
        &self,
        conn: Arc<Conn>,
        is_secure: bool,
        endpoint: Arc<dyn Endpoint>,
        registration: Registration,
    ) -> Pin<Box<Serve>> {
        if let Some(app) = endpoint.app() {
            conn.runs(app);
        }
        let scheme = self.proxies.source_of(&conn, is_secure);
        let clients = self.proxies.clients_of(scheme);
        let reporter = Reporter::new(&conn, self.on_error.clone());
        let tables = self.tables.clone();
        Box::pin(Serve::new(conn, endpoint, (scheme, clients), reporter, registration, tables))
    }
}
