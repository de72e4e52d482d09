//! The transports of a connection: TCP, a Unix socket, or any type that reads and writes.
//!
//! Rule: sockets are tokio's own types, and a branch is all that is paid for there being others.

pub(crate) mod boxed;
pub(crate) mod facts;
pub(crate) mod link;
pub(crate) mod nested;
#[cfg(feature = "simulation")]
pub(crate) mod network;
pub(crate) mod pipe;
pub(crate) mod read_buf;
pub(crate) mod sendfile;
#[cfg(feature = "simulation")]
pub mod simulation;
pub(crate) mod wire;

#[cfg(feature = "simulation")]
use std::sync::Weak;
use std::{
    future::poll_fn,
    io::{self, Read as _},
    mem::MaybeUninit,
    net::{Shutdown, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use socket2::{SockRef, TcpKeepalive};
#[cfg(unix)]
use tokio::net::{UnixStream, unix};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready},
    net::{TcpListener, TcpStream, ToSocketAddrs, tcp},
};

use crate::transport::{boxed::Boxed, facts::TransportFacts, link::Link};

/// A type that can replace a socket: it reads and writes, and may be moved to another thread.
///
/// Every such type has it; there is nothing to implement.
///
/// ```
/// fn takes(_: Box<dyn alula::Transport>) {}
///
/// let (near, _far) = tokio::io::duplex(1024);
/// takes(Box::new(near));
/// ```
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + ?Sized> Transport for T {}

/// A connection before it has its loops.
pub struct Socket {
    kind: Kind,
    /// The address of the other end, as far as it is known, and what was agreed on with it.
    facts: TransportFacts,
}

enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Link(Arc<dyn Link>),
}

impl From<TcpStream> for Socket {
    fn from(socket: TcpStream) -> Self {
        Self::new(Kind::Tcp(socket))
    }
}

#[cfg(unix)]
impl From<UnixStream> for Socket {
    fn from(socket: UnixStream) -> Self {
        Self::new(Kind::Unix(socket))
    }
}

impl From<Box<dyn Transport>> for Socket {
    fn from(transport: Box<dyn Transport>) -> Self {
        Self::new(Kind::Link(Arc::new(Boxed::new(transport))))
    }
}

#[cfg(feature = "simulation")]
impl From<Arc<dyn Link>> for Socket {
    fn from(link: Arc<dyn Link>) -> Self {
        Self::new(Kind::Link(link))
    }
}

impl Socket {
    fn new(kind: Kind) -> Self {
        Self { kind, facts: TransportFacts::new() }
    }

    /// Opens a connection on the network that is simulated; `None` when this thread has none, and connects
    /// for itself.
    #[cfg_attr(not(feature = "simulation"), expect(unused_variables, reason = "nothing is simulated"))]
    pub async fn simulated(host: &str, port: u16) -> Option<io::Result<Self>> {
        #[cfg(feature = "simulation")]
        if let Some(network) = crate::transport::network::network() {
            return Some(network.connect(host, port).await.map(Self::from));
        }
        None
    }

    /// Sets the facts about it.
    #[must_use]
    pub fn with_facts(self, facts: TransportFacts) -> Self {
        Self { facts, ..self }
    }

    /// Returns the facts that are known before its first byte.
    pub(crate) const fn facts(&self) -> &TransportFacts {
        &self.facts
    }

    /// Makes small writes leave at once.
    pub(crate) fn set_nodelay(&self) -> io::Result<()> {
        match &self.kind {
            Kind::Tcp(socket) => socket.set_nodelay(true),
            _ => Ok(()),
        }
    }

    /// Returns the address of the other end, if it has one.
    pub(crate) fn peer(&self) -> io::Result<Option<SocketAddr>> {
        if self.facts.peer.is_some() {
            return Ok(self.facts.peer);
        }
        match &self.kind {
            Kind::Tcp(socket) => socket.peer_addr().map(Some),
            #[cfg(unix)]
            Kind::Unix(_) => Ok(None),
            Kind::Link(link) => Ok(link.peer()),
        }
    }

    pub(crate) fn split(self) -> (ReadHalf, WriteHalf) {
        match self.kind {
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
        match &mut self.get_mut().kind {
            Kind::Tcp(socket) => Pin::new(socket).poll_read(cx, space),
            #[cfg(unix)]
            Kind::Unix(socket) => Pin::new(socket).poll_read(cx, space),
            Kind::Link(link) => read_link(&**link, cx, space),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().kind {
            Kind::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            #[cfg(unix)]
            Kind::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
            Kind::Link(link) => loop {
                ready!(link.poll_write_ready(cx))?;
                match link.try_write(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    written => return Poll::Ready(written),
                }
            },
        }
    }

    /// Returns at once, because all written bytes have been flushed.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().kind {
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

impl ReadHalf {
    /// Returns true if the reactor knows of nothing to read, and then has the waker. A link is not asked.
    #[inline]
    pub(crate) fn is_awaited(&self, cx: &mut Context<'_>) -> bool {
        match self {
            Self::Tcp(half) => half.as_ref().poll_read_ready(cx).is_pending(),
            #[cfg(unix)]
            Self::Unix(half) => half.as_ref().poll_read_ready(cx).is_pending(),
            Self::Link(_) => false,
        }
    }

    /// Becomes ready once the peer has closed its side, or the connection is broken, even if unread bytes
    /// come before that. Until then the waker is with the reactor. A link is not asked: its end is seen when
    /// it is read.
    ///
    /// A reactor that knew of bytes to read is made to forget them, so that it tells of more; `is_hidden`
    /// says that it was. The next read then has to be [`poll_read_by_system`](Self::poll_read_by_system). No
    /// system call.
    pub(crate) fn poll_closed(&self, is_hidden: &mut bool, cx: &mut Context<'_>) -> Poll<()> {
        macro_rules! poll_closed {
            ($socket:expr) => {{
                let socket = $socket;
                loop {
                    if ready!(socket.poll_read_ready(cx)).is_err()
                        || is_closed(socket.ready(Interest::READABLE))
                    {
                        return Poll::Ready(());
                    }
                    *is_hidden = true;
                    // The reactor forgets what it has told so far, but not an end, and nothing that it has to
                    // tell since.
                    let _ =
                        socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                }
            }};
        }
        match self {
            Self::Tcp(half) => poll_closed!(half.as_ref()),
            #[cfg(unix)]
            Self::Unix(half) => poll_closed!(half.as_ref()),
            Self::Link(_) => Poll::Pending,
        }
    }

    /// Reads the available bytes by a system call, and leaves the waker with the reactor if there are none.
    pub(crate) fn poll_read_by_system(
        &mut self,
        space: &mut [u8],
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match self.read_now(space) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                let mut space = ReadBuf::new(space);
                Pin::new(self).poll_read(cx, &mut space).map_ok(|()| space.filled().len())
            }
            read => Poll::Ready(read),
        }
    }

    /// Reads the available bytes, asking the system rather than the reactor.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when nothing is there, others when the connection is broken.
    pub(crate) fn read_now(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => (&*SockRef::from(half.as_ref())).read(space),
            #[cfg(unix)]
            Self::Unix(half) => (&*SockRef::from(half.as_ref())).read(space),
            Self::Link(link) => read_link_now(&**link, space),
        }
    }
}

/// Returns true if the reactor has reported that the peer has closed its side.
fn is_closed(ready: impl Future<Output = io::Result<Ready>>) -> bool {
    match pin!(ready).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ready) => ready.is_ok_and(Ready::is_read_closed),
        Poll::Pending => false,
    }
}

/// Reads once without a waker. A transport of the program may be a socket of tokio's, which would say that
/// nothing is there when the task has had its share: the budget does not count here.
fn read_link_now(link: &dyn Link, space: &mut [u8]) -> io::Result<usize> {
    let read = pin!(tokio::task::unconstrained(poll_fn(|cx| link.poll_read(space, cx))));
    match read.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(read) => read,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

fn read_link(link: &dyn Link, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    let bytes = ready!(link.poll_read(space.initialize_unfilled(), cx))?;
    space.advance(bytes);
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
    /// Returns the address of this end, if it has one. A system call.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(half) => half.local_addr().ok(),
            _ => None,
        }
    }

    /// Writes as much as there is room for. A writer that gets `WouldBlock` tries again with bytes that begin
    /// the same.
    #[inline]
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_write(bytes),
            #[cfg(unix)]
            Self::Unix(half) => half.try_write(bytes),
            Self::Link(link) => link.try_write(bytes),
        }
    }

    /// Returns true if there is certainly nothing to read: neither bytes nor an end nor an error. One system
    /// call, which reads nothing; a link is not asked.
    pub(crate) fn is_quiet(&self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        let peeked = match self {
            Self::Tcp(half) => SockRef::from(half.as_ref()).peek(&mut byte),
            #[cfg(unix)]
            Self::Unix(half) => SockRef::from(half.as_ref()).peek(&mut byte),
            Self::Link(_) => return false,
        };
        peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
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

    /// Ends the connection with a reset, if it has resets: the sent message is not complete.
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

    /// Ends the sending direction.
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
    pub(crate) fn is_used_by(&self, conn: Weak<dyn std::any::Any + Send + Sync>) {
        if let Self::Link(link) = self {
            link.is_used_by(conn);
        }
    }
}

/// The length of the backlog: as long as the system allows, on Linux `net.core.somaxconn`. When the queue is
/// full, Linux drops what comes, and the peer tries again after a second or more.
const BACKLOG: i32 = 65_535;

/// Accepts connections over TCP; in simulations, over the network of the thread.
pub struct Listener(Door);

enum Door {
    Tcp(TcpListener),
    #[cfg(feature = "simulation")]
    Simulated(Arc<dyn crate::transport::network::Listen>),
}

impl Listener {
    /// Listens on this address, with a backlog as long as the system allows.
    ///
    /// # Errors
    /// The address is taken or not ours.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        #[cfg(feature = "simulation")]
        if let Some(network) = crate::transport::network::network() {
            let address =
                tokio::net::lookup_host(address).await?.next().ok_or(io::ErrorKind::InvalidInput)?;
            return network.bind(address).map(|door| Self(Door::Simulated(door)));
        }
        let listener = TcpListener::bind(address).await?;
        // Tokio asks for 1024. To listen once more is to ask for another length of the queue.
        SockRef::from(&listener).listen(BACKLOG)?;
        Ok(Self(Door::Tcp(listener)))
    }

    /// Returns the next connection, and its peer's address.
    ///
    /// # Errors
    /// The connection is gone already, or the system has no descriptor for it.
    pub async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        match &self.0 {
            // By hand, since one task takes all: a list of those who wait is not needed.
            Door::Tcp(listener) => {
                let (socket, peer) = poll_fn(|cx| listener.poll_accept(cx)).await?;
                Ok((Socket { kind: Kind::Tcp(socket), facts: TransportFacts::new().peer(peer) }, peer))
            }
            #[cfg(feature = "simulation")]
            Door::Simulated(listener) => {
                let link = poll_fn(|cx| listener.poll_accept(cx)).await?;
                let peer = link.peer().ok_or(io::ErrorKind::AddrNotAvailable)?;
                Ok((link.into(), peer))
            }
        }
    }

    /// Sends TCP keep-alive probes on every connection taken from here after this long without a byte, and
    /// then as often, until the system gives the peer up. The sockets inherit it from the one that listens.
    ///
    /// # Errors
    /// The system refuses the option.
    pub fn set_tcp_keep_alive(&self, after: Duration) -> io::Result<()> {
        match &self.0 {
            Door::Tcp(listener) => set_tcp_keep_alive(listener, after),
            #[cfg(feature = "simulation")]
            Door::Simulated(_) => Ok(()),
        }
    }

    /// Accepts a connection that waits already, by a system call of its own: the runtime's knowledge of the
    /// listener may be out of date. Returns `None` when none waits.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_now(&self) -> io::Result<Option<(Socket, SocketAddr)>> {
        match &self.0 {
            Door::Tcp(listener) => accept_from(listener),
            #[cfg(feature = "simulation")]
            Door::Simulated(listener) => {
                let Poll::Ready(link) = listener.poll_accept(&mut Context::from_waker(Waker::noop())) else {
                    return Ok(None);
                };
                let link = link?;
                let peer = link.peer().ok_or(io::ErrorKind::AddrNotAvailable)?;
                Ok(Some((link.into(), peer)))
            }
        }
    }

    /// Returns the address of the listener.
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

fn accept_from(listener: &TcpListener) -> io::Result<Option<(Socket, SocketAddr)>> {
    let (socket, peer) = match SockRef::from(listener).accept() {
        Ok(accepted) => accepted,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(error),
    };
    let peer = peer.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
    socket.set_nonblocking(true)?;
    let socket = TcpStream::from_std(socket.into())?;
    Ok(Some((socket.into(), peer)))
}

/// Has the system send TCP keep-alive probes after this long without a byte, and then as often.
///
/// # Errors
/// The system refuses the option.
#[cfg(unix)]
pub fn set_tcp_keep_alive(socket: &impl std::os::fd::AsFd, after: Duration) -> io::Result<()> {
    SockRef::from(socket).set_tcp_keepalive(&probes(after))
}

/// Has the system send TCP keep-alive probes after this long without a byte, and then as often.
///
/// # Errors
/// The system refuses the option.
#[cfg(windows)]
pub fn set_tcp_keep_alive(socket: &impl std::os::windows::io::AsSocket, after: Duration) -> io::Result<()> {
    SockRef::from(socket).set_tcp_keepalive(&probes(after))
}

/// Makes the system end a TCP connection when sent bytes are not acknowledged for this long
/// (TCP_USER_TIMEOUT, RFC 5482): the peer is gone, or reads nothing. On Linux; elsewhere nothing is changed.
///
/// # Errors
/// The system refuses the option.
#[cfg(target_os = "linux")]
pub fn set_tcp_user_timeout(socket: &impl std::os::fd::AsFd, after: Duration) -> io::Result<()> {
    // Zero stands for the system's own time, and so no time at all is a millisecond.
    let millis = u32::try_from(after.as_millis()).unwrap_or(i32::MAX as u32).clamp(1, i32::MAX as u32);
    Ok(rustix::net::sockopt::set_tcp_user_timeout(socket, millis)?)
}

/// Changes nothing: the system has no such time.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn set_tcp_user_timeout<S>(_: &S, _: Duration) -> io::Result<()> {
    Ok(())
}

/// The seconds that Linux accepts for the time before probes; it refuses others, and fractions are cut off.
const PROBES_AFTER: std::ops::RangeInclusive<u64> = 1..=32_767;

fn probes(after: Duration) -> TcpKeepalive {
    let after = Duration::from_secs(after.as_secs().clamp(*PROBES_AFTER.start(), *PROBES_AFTER.end()));
    let probes = TcpKeepalive::new().with_time(after);
    // Elsewhere the system's own interval holds.
    #[cfg(any(
        target_vendor = "apple",
        target_os = "android",
        target_os = "freebsd",
        target_os = "linux",
        windows
    ))]
    let probes = probes.with_interval(after);
    probes
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// The look at a connection before it is used again found nothing on a socket of tokio's in a program's
    /// transport, when the task had had its share: a response that nobody asked for was taken for the answer
    /// to the next request.
    #[tokio::test]
    async fn a_transport_is_read_though_the_task_has_had_its_share() {
        let (near, mut far) = tokio::io::duplex(64);
        let transport: Box<dyn Transport> = Box::new(near);
        let (mut reads, _) = Socket::from(transport).split();
        far.write_all(b"stray").await.unwrap();
        while tokio::task::coop::has_budget_remaining() {
            // One poll, so that the share is not renewed.
            let _ = pin!(tokio::task::consume_budget()).poll(&mut Context::from_waker(Waker::noop()));
        }
        assert_eq!(reads.read_now(&mut [0; 64]).unwrap(), 5);
    }
}
