//! The links of a connection over neither TCP nor a Unix socket, as the loops use them: reading with a waker,
//! writing without.

#[cfg(feature = "simulation")]
use std::{any::Any, sync::Weak};
use std::{
    io,
    net::SocketAddr,
    task::{Context, Poll},
};

/// A link: one end of a connection, which closes when it is dropped.
///
/// A waker is kept until it is woken, or another takes its place; it is woken when something changes, and
/// only then.
#[cfg_attr(
    not(feature = "simulation"),
    expect(unreachable_pub, reason = "simulations have links of their own")
)]
pub trait Link: Send + Sync {
    /// Returns the address of the other end, if it has one.
    fn peer(&self) -> Option<SocketAddr>;

    /// Reads bytes that have arrived: 0 once the other end has shut its side, and for an empty `space`.
    fn poll_read(&self, space: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>>;

    /// Writes as much as there is room for. A writer that gets `WouldBlock` tries again with bytes that begin
    /// the same.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none, others when the connection is broken.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Becomes ready when writing may make progress or fail.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the sending direction.
    fn shut(&self);

    /// Ends the connection in a way that shows the other end a failure, if possible: the sent message is not
    /// complete.
    fn abort(&self) {}

    /// Receives the connection that uses this end, which is a [`Conn`](crate::Conn).
    #[cfg(feature = "simulation")]
    fn is_used_by(&self, _: Weak<dyn Any + Send + Sync>) {}
}
