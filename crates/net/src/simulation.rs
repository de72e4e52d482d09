//! Connections over a network that is simulated, for tests of the loops on simulated time.
//!
//! A thread that has [`install`]ed a network opens and takes all its connections there; other threads use TCP. What the
//! network delays, cuts and loses is its own affair: what it must keep to is what tokio's sockets keep to, so that the
//! loops meet nothing here that they could not meet there.

use std::{
    cell::RefCell,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, ready},
    thread::LocalKey,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream, ToSocketAddrs, lookup_host, tcp::OwnedReadHalf},
};

use crate::{conn::Conn, transport::tcp};

/// Where connections are opened and taken.
pub trait Network: Send + Sync {
    /// Opens a connection to this host and port.
    fn connect(&self, host: &str, port: u16) -> Connecting;

    /// Listens on this address.
    ///
    /// # Errors
    /// Somebody listens there already.
    fn bind(&self, address: SocketAddr) -> io::Result<Arc<dyn Listen>>;
}

/// A connection being opened.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Arc<dyn Link>>> + Send>>;

/// Takes connections.
pub trait Listen: Send + Sync {
    /// The address listened on.
    fn address(&self) -> SocketAddr;

    /// The next connection.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Arc<dyn Link>>>;
}

/// One end of a connection. It is closed when it is dropped.
///
/// A waker is kept until it is woken, or another takes its place; it is woken when something changes, and only then.
pub trait Link: Send + Sync {
    /// The address of the other end.
    fn peer(&self) -> SocketAddr;

    /// Reads what has arrived: 0 octets once the other end has shut its side, and for no room.
    fn poll_read(&self, space: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>>;

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none, others when the connection is broken.
    fn try_write(&self, octets: &[u8]) -> io::Result<usize>;

    /// Ready when writing may do something, be it fail.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Says that nothing more will be written.
    fn shut(&self);

    /// Hears of the connection that uses this end.
    fn is_used_by(&self, conn: Weak<Conn>);
}

/// Makes this thread use this network from now on, or TCP again.
pub fn install(network: Option<Arc<dyn Network>>) {
    of_thread().replace(network);
}

fn network() -> Option<Arc<dyn Network>> {
    of_thread().with_borrow(Clone::clone)
}

fn of_thread() -> &'static LocalKey<RefCell<Option<Arc<dyn Network>>>> {
    thread_local! {
        static NETWORK: RefCell<Option<Arc<dyn Network>>> = const { RefCell::new(None) };
    }
    &NETWORK
}

/// What a connection without calls is like, for tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rest {
    /// It has ended.
    pub has_ended: bool,
    /// The octets that may be sent.
    pub may_send: i64,
    /// The octets that the peer may send.
    pub may_receive: i64,
    /// The streams that are open.
    pub streams: usize,
    /// Handles of streams are held, or callers wait for a stream.
    pub is_used: bool,
    /// Callers that count as woken and have not run.
    pub woken: usize,
    /// The connection's own task reads.
    pub task_reads: bool,
    /// The octets that wait to be written.
    pub unsent: usize,
}

impl Conn {
    /// What it is like now.
    ///
    /// # Panics
    /// When the machine's books do not agree.
    pub fn rest(&self) -> Rest {
        let shared = self.lock();
        shared.machine.check_invariants();
        let [may_send, may_receive] = shared.machine.windows();
        Rest {
            has_ended: shared.ended.is_some(),
            may_send,
            may_receive,
            streams: shared.machine.in_flight(),
            is_used: !shared.is_idle(),
            woken: shared.hand_over.woken(),
            task_reads: shared.hand_over.task_reads(),
            unsent: shared.unsent(),
        }
    }
}

/// A connection before it has its loops.
pub enum Socket {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a network that is simulated.
    Simulated(Arc<dyn Link>),
}

impl Socket {
    pub(crate) async fn connect((host, port): (&str, u16)) -> io::Result<Self> {
        let connecting = network().map(|network| network.connect(host, port));
        match connecting {
            Some(connecting) => connecting.await.map(Self::Simulated),
            None => TcpStream::connect((host, port)).await.map(Self::Tcp),
        }
    }

    pub(crate) fn set_nodelay(&self, on: bool) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.set_nodelay(on),
            Self::Simulated(_) => Ok(()),
        }
    }

    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.peer_addr(),
            Self::Simulated(link) => Ok(link.peer()),
        }
    }

    /// Only what came over TCP can be looked at before it is read: a network that is simulated carries clear text.
    #[cfg(feature = "tls")]
    pub(crate) async fn peek(&self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => socket.peek(space).await,
            Self::Simulated(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl From<TcpStream> for Socket {
    fn from(socket: TcpStream) -> Self {
        Self::Tcp(socket)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_read(cx, space),
            Self::Simulated(link) => poll_read(&**link, cx, space),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_write(cx, octets),
            Self::Simulated(link) => loop {
                ready!(link.poll_write_ready(cx))?;
                match link.try_write(octets) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    written => return Poll::Ready(written),
                }
            },
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Simulated(link) => {
                link.shut();
                Poll::Ready(Ok(()))
            }
        }
    }
}

fn poll_read(link: &dyn Link, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    let octets = ready!(link.poll_read(space.initialize_unfilled(), cx))?;
    space.advance(octets);
    Poll::Ready(Ok(()))
}

pub(crate) enum ReadHalf {
    Tcp(OwnedReadHalf),
    Simulated(Arc<dyn Link>),
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(cx, space),
            Self::Simulated(link) => poll_read(&**link, cx, space),
        }
    }
}

pub(crate) enum WriteHalf {
    Tcp(tcp::WriteHalf),
    Simulated(Arc<dyn Link>),
}

impl WriteHalf {
    pub(crate) fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_write(octets),
            Self::Simulated(link) => link.try_write(octets),
        }
    }

    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => half.poll_write_ready(cx),
            Self::Simulated(link) => link.poll_write_ready(cx),
        }
    }

    pub(crate) fn abort(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.abort(),
            // Networks that are simulated tell an end from a reset only by what was not sent.
            Self::Simulated(link) => {
                link.shut();
                Ok(())
            }
        }
    }

    pub(crate) fn shut(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.shut(),
            Self::Simulated(link) => {
                link.shut();
                Ok(())
            }
        }
    }

    pub(crate) fn is_used_by(&self, conn: Weak<Conn>) {
        if let Self::Simulated(link) = self {
            link.is_used_by(conn);
        }
    }
}

pub(crate) fn split(socket: Socket) -> (ReadHalf, WriteHalf) {
    match socket {
        Socket::Tcp(socket) => {
            let (read_half, write_half) = tcp::split(socket);
            (ReadHalf::Tcp(read_half), WriteHalf::Tcp(write_half))
        }
        Socket::Simulated(link) => (ReadHalf::Simulated(link.clone()), WriteHalf::Simulated(link)),
    }
}

/// Takes connections, over TCP or over a network that is simulated.
pub enum Listener {
    /// Over TCP.
    Tcp(TcpListener),
    /// Over a network that is simulated.
    Simulated(Arc<dyn Listen>),
}

impl Listener {
    /// Listens on the network of this thread.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let Some(network) = network() else { return TcpListener::bind(address).await.map(Self::Tcp) };
        let address = lookup_host(address).await?.next().ok_or(io::ErrorKind::InvalidInput)?;
        network.bind(address).map(Self::Simulated)
    }

    /// The next connection, and its peer's address.
    ///
    /// # Errors
    /// The connection is gone already, or the system has no descriptor for it.
    pub async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        match self {
            Self::Tcp(listener) => listener.accept().await.map(|(socket, peer)| (Socket::Tcp(socket), peer)),
            Self::Simulated(listener) => {
                let link = std::future::poll_fn(|cx| listener.poll_accept(cx)).await?;
                let peer = link.peer();
                Ok((Socket::Simulated(link), peer))
            }
        }
    }

    /// The address listened on.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr(),
            Self::Simulated(listener) => Ok(listener.address()),
        }
    }
}
