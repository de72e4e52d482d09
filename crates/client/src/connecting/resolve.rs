//! The lookup of a host's addresses.

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
};

/// Looks up the addresses of hosts; see [`ClientBuilder::resolver`](crate::ClientBuilder::resolver).
///
/// It is asked once for each connection that is opened, but for addresses, which need no look-up, and for
/// what
/// [`ClientBuilder::resolve`](crate::ClientBuilder::resolve) has said. Functions that return such a future are resolvers:
///
/// ```
/// use std::net::{Ipv4Addr, SocketAddr};
///
/// # fn main() -> Result<(), alula::Error> {
/// let everything_is_here = |_: &str, port| async move { Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))]) };
/// let client = alula::Client::builder().resolver(everything_is_here).build()?;
/// # Ok(())
/// # }
/// ```
pub trait Resolve: Send + Sync {
    /// Returns the addresses of a host, with this port, the preferred one first (RFC 6724). They are tried as
    /// RFC 8305 says.
    ///
    /// The future is dropped when the connection is given up, or takes too long.
    ///
    /// # Errors
    /// The host is unknown, or nobody could be asked.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// Addresses being looked up.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

impl<F, R> Resolve for F
where
    F: Fn(&str, u16) -> R + Send + Sync,
    R: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
{
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(self(host, port))
    }
}

/// The operating system's resolver (`getaddrinfo`), called on a blocking thread. It sorts addresses by RFC
/// 6724.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, port)).await;
            Ok(found.map_err(without_kind)?.collect())
        })
    }
}

/// Handles an error of `getaddrinfo` itself, which has neither a kind nor a number.
pub(crate) fn without_kind(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { io::Error::new(io::ErrorKind::NotFound, error) }
}

/// A resolver, with the addresses that are known without it.
#[derive(Clone, Default)]
pub(crate) struct Resolver {
    /// The program's resolver, in place of the system's.
    by: Option<Arc<dyn Resolve>>,
    known: Vec<Known>,
}

#[derive(Clone)]
struct Known {
    host: String,
    port: u16,
    addresses: Vec<SocketAddr>,
}

impl Resolver {
    pub(crate) fn ask(&mut self, by: Arc<dyn Resolve>) {
        self.by = Some(by);
    }

    /// Uses this resolver in place of the system's, unless the user has set one.
    #[cfg(feature = "blocking")]
    pub(crate) fn ask_unless_set(&mut self, by: impl Resolve + 'static) {
        self.by.get_or_insert_with(|| Arc::new(by));
    }

    pub(crate) fn know(&mut self, host: &str, port: u16, addresses: Vec<SocketAddr>) {
        self.known.retain(|known| !known.is(host, port));
        self.known.push(Known { host: host.to_owned(), port, addresses });
    }

    /// Returns at least one address of a host, given without brackets.
    pub(crate) async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let addresses = match self.known.iter().find(|known| known.is(host, port)) {
            Some(known) => known.addresses.clone(),
            // An address needs no lookup, and a resolver of the user's need not know any.
            None => match host.parse::<IpAddr>() {
                Ok(address) => vec![SocketAddr::new(address, port)],
                Err(_) => match &self.by {
                    Some(by) => by.resolve(host, port).await?,
                    None => SystemResolver.resolve(host, port).await?,
                },
            },
        };
        if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
    }
}

impl Known {
    fn is(&self, host: &str, port: u16) -> bool {
        self.port == port && self.host.eq_ignore_ascii_case(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows_nobody() -> Resolver {
        let nobody = |_: &str, _| async { Err(io::ErrorKind::NotFound.into()) };
        Resolver { by: Some(Arc::new(nobody)), known: Vec::new() }
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn addresses_need_no_look_up() {
        let resolver = knows_nobody();
        assert_eq!(resolver.addresses("192.0.2.1", 80).await.unwrap(), [address("192.0.2.1:80")]);
        assert_eq!(resolver.addresses("2001:db8::1", 443).await.unwrap(), [address("[2001:db8::1]:443")]);
        assert_eq!(resolver.addresses("a.example", 80).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn what_is_known_is_not_asked_for_and_the_last_word_counts() {
        let mut resolver = knows_nobody();
        resolver.know("a.example", 80, vec![address("192.0.2.1:80")]);
        resolver.know("A.example", 80, vec![address("192.0.2.2:8080"), address("192.0.2.3:80")]);
        let found = resolver.addresses("a.example", 80).await.unwrap();
        assert_eq!(found, [address("192.0.2.2:8080"), address("192.0.2.3:80")]);
        resolver.addresses("a.example", 81).await.unwrap_err();
        resolver.know("a.example", 80, Vec::new());
        assert_eq!(resolver.addresses("a.example", 80).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[tokio::test]
    async fn the_system_knows_this_host_and_not_what_cannot_exist() {
        let found = Resolver::default().addresses("localhost", 80).await.unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 80), "{found:?}");
        // RFC 6761 §6.4 keeps this name from ever being anybody's.
        let error = Resolver::default().addresses("nobody.invalid", 80).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
