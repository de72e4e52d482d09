//! Connections that the program opens itself: over a tunnel, a pipe in memory, or anything that reads and
//! writes.

use std::{fmt, future::Future, io, pin::Pin};

use alula_net::Transport;

use crate::url::zone::Zone;

/// The origin that a connection is opened for.
///
/// ```
/// # use alula::Destination;
/// fn name(to: &Destination) -> String {
///     format!("{} on port {}", to.host(), to.port())
/// }
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Destination {
    pub(crate) scheme: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) zone: Option<Zone>,
}

impl Destination {
    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.scheme
    }

    /// The host name in lower case, internationalised labels as `xn--…` (RFC 5891), or an address, IPv6
    /// without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, even if it is the scheme's default.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the zone of an IPv6 address (RFC 4007 §11), if the URL has one: the name of an interface of
    /// this machine or its index in digits, decoded. It has 1 to 15 visible ASCII characters, and has not
    /// been looked up. Allocates nothing.
    ///
    /// ```
    /// use alula::{Client, Destination, Transport};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), alula::Error> {
    /// let refusing = |to: &Destination| {
    ///     let said = format!("{} by {}", to.host(), to.zone().unwrap_or("any interface"));
    ///     async { Err::<Box<dyn Transport>, _>(std::io::Error::other(said)) }
    /// };
    /// let client = Client::builder().connector(refusing).build()?;
    /// let error = client.get("http://[fe80::1%25eth0]/").send().await.err().unwrap();
    /// assert!(error.to_string().contains("fe80::1 by eth0"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_ref().map(Zone::name)
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.scheme == "https"
    }
}

/// Writes `example.com:443`, as in `CONNECT` and `host`, always with the port and never with a zone.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Opens connections for a client; see [`ClientBuilder::connector`](crate::ClientBuilder::connector).
///
/// TLS, where the URL asks for it, is spoken over what it returns. Functions that return such a future are
/// connectors:
///
/// ```
/// use alula::{Client, Destination, Transport};
///
/// # fn main() -> Result<(), alula::Error> {
/// let over_a_pipe = |_: &Destination| async {
///     let (near, far) = tokio::io::duplex(4096);
///     // The other end is served here.
///     drop(far);
///     Ok(Box::new(near) as Box<dyn Transport>)
/// };
/// let client = Client::builder().connector(over_a_pipe).build()?;
/// # Ok(())
/// # }
/// ```
pub trait Connector: Send + Sync {
    /// Opens a connection to this destination.
    ///
    /// The future is dropped when nobody needs the connection any more, or it takes too long.
    ///
    /// # Errors
    /// There is no way there.
    fn connect<'a>(&'a self, to: &'a Destination) -> Dialling<'a>;
}

/// A connection being opened by a [`Connector`].
pub type Dialling<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Transport>>> + Send + 'a>>;

impl<F, D> Connector for F
where
    F: Fn(&Destination) -> D + Send + Sync,
    D: Future<Output = io::Result<Box<dyn Transport>>> + Send + 'static,
{
    fn connect<'a>(&'a self, to: &'a Destination) -> Dialling<'a> {
        Box::pin(self(to))
    }
}
