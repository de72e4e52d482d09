//! The links of a connection that is neither TCP nor a Unix socket, as the loops use them: reading with a
//! waker, writing without.

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
    /// Returns the address of the other end, where there is one.
    fn peer(&self) -> Option<SocketAddr>;

    /// Reads bytes that have arrived: 0 once the other end has shut its side, and for an empty `space`.
    fn poll_read(&self, space: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>>;

    /// Writes as much as there is room for. A writer that gets `WouldBlock` tries again with bytes that begin
    /// the same.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none, others when the connection is broken.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Ready when writing may do something, be it fail.
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Says that nothing more will be written.
    fn shut(&self);

    /// The end of what was written is to look like a failure, where that can be told: what was sent is not
    /// whole.
    fn abort(&self) {}

    /// Hears of the connection that uses this end, which is a [`Conn`](crate::Conn).
    #[cfg(feature = "simulation")]
    fn is_used_by(&self, _: Weak<dyn Any + Send + Sync>) {}
}
