//! What a connection moves its octets over: TCP, a Unix socket, or whatever reads and writes.
//!
//! Rule: sockets are tokio's own types, and a branch is all that is paid for there being others.

#[cfg(feature = "simulation")]
use std::sync::Weak;
use std::{
    io,
    net::{Shutdown, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::SockRef;
#[cfg(unix)]
use tokio::net::{UnixStream, unix};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream, ToSocketAddrs, tcp},
};

#[cfg(feature = "simulation")]
use crate::conn::Conn;
use crate::{boxed::Boxed, link::Link};

/// Whatever can stand in for a socket: it reads and writes, and may be moved to another thread.
///
/// Every such type has it; there is nothing to implement.
///
/// ```
/// fn takes(_: Box<dyn alula_net::Transport>) {}
///
/// let (near, _far) = tokio::io::duplex(1024);
/// takes(Box::new(near));
/// ```
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + ?Sized> Transport for T {}

/// A connection before it has its loops.
pub struct Socket(Kind);

enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Link(Arc<dyn Link>),
}

impl From<TcpStream> for Socket {
    fn from(socket: TcpStream) -> Self {
        Self(Kind::Tcp(socket))
    }
}

#[cfg(unix)]
impl From<UnixStream> for Socket {
    fn from(socket: UnixStream) -> Self {
        Self(Kind::Unix(socket))
    }
}

impl From<Box<dyn Transport>> for Socket {
    fn from(transport: Box<dyn Transport>) -> Self {
        Self(Kind::Link(Arc::new(Boxed::new(transport))))
    }
}

#[cfg(feature = "simulation")]
impl From<Arc<dyn Link>> for Socket {
    fn from(link: Arc<dyn Link>) -> Self {
        Self(Kind::Link(link))
    }
}

impl Socket {
    /// Opens a connection on the network that is simulated; `None` when this thread has none, and connects for itself.
    #[cfg_attr(not(feature = "simulation"), expect(unused_variables, reason = "nothing is simulated"))]
    pub async fn simulated(host: &str, port: u16) -> Option<io::Result<Self>> {
        #[cfg(feature = "simulation")]
        if let Some(network) = crate::simulation::network() {
            return Some(network.connect(host, port).await.map(Self::from));
        }
        None
    }

    /// Small writes leave at once.
    pub(crate) fn set_nodelay(&self) -> io::Result<()> {
        match &self.0 {
            Kind::Tcp(socket) => socket.set_nodelay(true),
            _ => Ok(()),
        }
    }

    /// The address of the other end, where there is one.
    pub(crate) fn peer(&self) -> io::Result<Option<SocketAddr>> {
        match &self.0 {
            Kind::Tcp(socket) => socket.peer_addr().map(Some),
            #[cfg(unix)]
            Kind::Unix(_) => Ok(None),
            Kind::Link(link) => Ok(link.peer()),
        }
    }

    pub(crate) fn split(self) -> (ReadHalf, WriteHalf) {
        match self.0 {
            Kind::Tcp(socket) => {
                let (read_half, write_half) = socket.into_split();
                (ReadHalf::Tcp(read_half), WriteHalf::Tcp(write_half))
            }
            #[cfg(unix)]
            Kind::Unix(socket) => {
                let (read_half, write_half) = socket.into_split();
                (ReadHalf::Unix(read_half), WriteHalf::Unix(write_half))
            }
            Kind::Link(link) => (ReadHalf::Link(link.clone()), WriteHalf::Link(link)),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Kind::Tcp(socket) => Pin::new(socket).poll_read(cx, space),
            #[cfg(unix)]
            Kind::Unix(socket) => Pin::new(socket).poll_read(cx, space),
            Kind::Link(link) => read_link(&**link, cx, space),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Kind::Tcp(socket) => Pin::new(socket).poll_write(cx, octets),
            #[cfg(unix)]
            Kind::Unix(socket) => Pin::new(socket).poll_write(cx, octets),
            Kind::Link(link) => loop {
                ready!(link.poll_write_ready(cx))?;
                match link.try_write(octets) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    written => return Poll::Ready(written),
                }
            },
        }
    }

    /// What counts as written has been flushed.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Kind::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            #[cfg(unix)]
            Kind::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
            Kind::Link(link) => {
                link.shut();
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// The reading half of a socket.
pub(crate) enum ReadHalf {
    Tcp(tcp::OwnedReadHalf),
    #[cfg(unix)]
    Unix(unix::OwnedReadHalf),
    Link(Arc<dyn Link>),
}

impl AsyncRead for ReadHalf {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(cx, space),
            #[cfg(unix)]
            Self::Unix(half) => Pin::new(half).poll_read(cx, space),
            Self::Link(link) => read_link(&**link, cx, space),
        }
    }
}

fn read_link(link: &dyn Link, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    let octets = ready!(link.poll_read(space.initialize_unfilled(), cx))?;
    space.advance(octets);
    Poll::Ready(Ok(()))
}

/// The writing half of a socket.
pub(crate) enum WriteHalf {
    Tcp(tcp::OwnedWriteHalf),
    #[cfg(unix)]
    Unix(unix::OwnedWriteHalf),
    Link(Arc<dyn Link>),
}

impl WriteHalf {
    /// Writes as much as there is room for. Who is told that there is none tries again with octets that begin the same.
    #[inline]
    pub(crate) fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_write(octets),
            #[cfg(unix)]
            Self::Unix(half) => half.try_write(octets),
            Self::Link(link) => link.try_write(octets),
        }
    }

    #[inline]
    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => half.as_ref().poll_write_ready(cx),
            #[cfg(unix)]
            Self::Unix(half) => half.as_ref().poll_write_ready(cx),
            Self::Link(link) => link.poll_write_ready(cx),
        }
    }

    /// Makes the end of the connection a reset, where there are any: what was sent is not whole.
    pub(crate) fn abort(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => SockRef::from(half.as_ref()).set_linger(Some(Duration::ZERO)),
            // A Unix socket has no resets: it ends when it is dropped.
            #[cfg(unix)]
            Self::Unix(_) => Ok(()),
            Self::Link(link) => {
                link.abort();
                Ok(())
            }
        }
    }

    /// Says that nothing more will be written.
    pub(crate) fn shut(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => SockRef::from(half.as_ref()).shutdown(Shutdown::Write),
            #[cfg(unix)]
            Self::Unix(half) => SockRef::from(half.as_ref()).shutdown(Shutdown::Write),
            Self::Link(link) => {
                link.shut();
                Ok(())
            }
        }
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn is_used_by(&self, conn: Weak<Conn>) {
        if let Self::Link(link) = self {
            link.is_used_by(conn);
        }
    }
}

/// Takes connections over TCP; in simulations, over what the thread has instead.
pub struct Listener(Door);

enum Door {
    Tcp(TcpListener),
    #[cfg(feature = "simulation")]
    Simulated(Arc<dyn crate::simulation::Listen>),
}

impl Listener {
    /// Listens on this address.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        #[cfg(feature = "simulation")]
        if let Some(network) = crate::simulation::network() {
            let address =
                tokio::net::lookup_host(address).await?.next().ok_or(io::ErrorKind::InvalidInput)?;
            return network.bind(address).map(|door| Self(Door::Simulated(door)));
        }
        TcpListener::bind(address).await.map(|listener| Self(Door::Tcp(listener)))
    }

    /// The next connection, and its peer's address.
    ///
    /// # Errors
    /// The connection is gone already, or the system has no descriptor for it.
    pub async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        match &self.0 {
            Door::Tcp(listener) => listener.accept().await.map(|(socket, peer)| (socket.into(), peer)),
            #[cfg(feature = "simulation")]
            Door::Simulated(listener) => {
                let link = std::future::poll_fn(|cx| listener.poll_accept(cx)).await?;
                let peer = link.peer().ok_or(io::ErrorKind::AddrNotAvailable)?;
                Ok((link.into(), peer))
            }
        }
    }

    /// The address listened on.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Door::Tcp(listener) => listener.local_addr(),
            #[cfg(feature = "simulation")]
            Door::Simulated(listener) => Ok(listener.address()),
        }
    }
}
