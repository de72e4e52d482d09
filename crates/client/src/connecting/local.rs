//! The local end of connections: the address and port, or the interface, to open them from.

use std::{io, net::SocketAddr};

use tokio::net::{TcpSocket, TcpStream};

/// The local end of connections; unset parts are chosen by the system.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalEnd {
    /// The addresses, of which the first one is used that is free and of the right family.
    pub(crate) addresses: Vec<SocketAddr>,
    #[cfg(target_os = "linux")]
    pub(crate) interface: Option<String>,
}

impl LocalEnd {
    /// Connects to this address.
    ///
    /// # Errors
    /// No address that was given is free or of the family, there is no such interface, or nobody listens
    /// there.
    pub(crate) async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        if self.is_any() {
            return TcpStream::connect(to).await;
        }
        self.socket(to)?.connect(to).await
    }

    #[cfg(target_os = "linux")]
    fn is_any(&self) -> bool {
        self.addresses.is_empty() && self.interface.is_none()
    }

    #[cfg(not(target_os = "linux"))]
    fn is_any(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Returns a socket bound to the first free address.
    fn socket(&self, to: SocketAddr) -> io::Result<TcpSocket> {
        let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        #[cfg(target_os = "linux")]
        if let Some(interface) = &self.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        let mut failure = match self.addresses.is_empty() {
            true => return Ok(socket),
            false => io::ErrorKind::AddrNotAvailable.into(),
        };
        // An address of the other family cannot be bound; a port in use is skipped for the next one.
        for from in self.addresses.iter().filter(|from| from.is_ipv4() == to.is_ipv4()) {
            match socket.bind(*from) {
                Ok(()) => return Ok(socket),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

    use super::*;

    #[tokio::test]
    async fn the_first_address_that_is_free_is_taken() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (to, taken) =
            (server.local_addr().unwrap(), TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let addresses = vec![(Ipv6Addr::LOCALHOST, 0).into(), taken.local_addr().unwrap(), any];
        let connected = LocalEnd { addresses, ..LocalEnd::default() }.connect(to).await.unwrap();
        assert_eq!(connected.local_addr().unwrap().ip(), Ipv4Addr::LOCALHOST);
        assert!(LocalEnd::default().connect(to).await.is_ok());
        for addresses in [vec![taken.local_addr().unwrap()], vec![(Ipv6Addr::LOCALHOST, 0).into()]] {
            assert!(LocalEnd { addresses, ..LocalEnd::default() }.connect(to).await.is_err());
        }
    }
}
