//! What a connection moves its octets over: TCP, and in simulations what stands in for it.
//!
//! Rule: without the feature `simulation` these are tokio's own types, and nothing is asked at run time.

#[cfg(not(feature = "simulation"))]
pub(crate) use tcp::{WriteHalf, split};
#[cfg(not(feature = "simulation"))]
pub(crate) use tokio::net::tcp::OwnedReadHalf as ReadHalf;
#[cfg(not(feature = "simulation"))]
pub use tokio::net::{TcpListener as Listener, TcpStream as Socket};

#[cfg(feature = "simulation")]
pub use crate::simulation::{Listener, Socket};
#[cfg(feature = "simulation")]
pub(crate) use crate::simulation::{ReadHalf, WriteHalf, split};

pub(crate) mod tcp {
    use std::{
        io,
        net::Shutdown,
        task::{Context, Poll},
    };

    use socket2::SockRef;
    use tokio::net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    };

    /// The writing half of a socket.
    pub(crate) struct WriteHalf(OwnedWriteHalf);

    pub(crate) fn split(socket: TcpStream) -> (OwnedReadHalf, WriteHalf) {
        let (read_half, write_half) = socket.into_split();
        (read_half, WriteHalf(write_half))
    }

    impl WriteHalf {
        #[inline]
        pub(crate) fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
            self.0.try_write(octets)
        }

        #[inline]
        pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.0.as_ref().poll_write_ready(cx)
        }

        /// Makes the end of the connection a reset: what was sent is not whole.
        pub(crate) fn abort(&self) -> io::Result<()> {
            SockRef::from(self.0.as_ref()).set_linger(Some(std::time::Duration::ZERO))
        }

        /// Says that nothing more will be written.
        pub(crate) fn shut(&self) -> io::Result<()> {
            SockRef::from(self.0.as_ref()).shutdown(Shutdown::Write)
        }
    }
}
