//! Proxies: the requests that each is for, and the way through it.

mod environment;
mod exceptions;
mod socks;
mod tunnel;

use std::{fmt, io, sync::Arc};

use alula_fields::{FieldSection, masked_url};
use alula_net::{Cause, Error, Phase, Retry};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use self::exceptions::Exceptions;
pub(crate) use self::{
    environment::Proxies,
    socks::{Target, ask as ask_socks},
    tunnel::ask as ask_for_tunnel,
};
use super::Destination;
use crate::url::{error::reason, zone::Zone};

/// A proxy, and the requests that it is for; see [`ClientBuilder::proxy`](crate::ClientBuilder::proxy).
///
/// | its URL | what it is |
/// | --- | --- |
/// | `http://host:3128` | HTTP (RFC 9110 §3.7): `https://` goes through tunnels (CONNECT), `http://` by way of requests to the proxy |
/// | `https://host` | the same, over TLS to the proxy; needs the feature `tls` |
/// | `socks5://host` | SOCKS 5 (RFC 1928); hosts are looked up here |
/// | `socks5h://host` | the same; hosts are looked up by the proxy |
///
/// The host may be an IPv6 address with a zone, `http://[fe80::1%25eth0]:3128`.
///
/// Without a scheme it is HTTP. The port is 80, 443 or 1080 unless it is given. A user name and a password in
/// the URL are for the proxy (RFC 7617, RFC 1929).
///
/// ```
/// use alula::{Client, Proxy};
///
/// # fn main() -> Result<(), alula::Error> {
/// let proxy = Proxy::all("http://user:secret@between.example:3128")?.except("localhost, .internal, 10.0.0.0/8");
/// let client = Client::builder().proxy(proxy).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Proxy {
    server: Arc<Server>,
    serves: Option<&'static str>,
    except: Exceptions,
}

impl Proxy {
    /// Creates a proxy for all requests.
    ///
    /// # Errors
    /// The URL is not that of a proxy, or the feature that it needs is off.
    pub fn all(url: &str) -> Result<Self, Error> {
        Self::of(url, "").map_err(unusable)
    }

    /// Parses the URL of a proxy, from this variable of the environment if it has a name.
    fn of(url: &str, variable: &str) -> Result<Self, String> {
        let server = Server::of(url).map_err(|why| {
            let of = if variable.is_empty() { "" } else { " of the variable " };
            format!("cannot use the proxy {}{of}{variable}: {why}", masked_url(url.trim()))
        })?;
        Ok(Self { server: Arc::new(server), serves: None, except: Exceptions::default() })
    }

    /// Creates a proxy for requests to `http://` URLs.
    ///
    /// # Errors
    /// As [`Self::all`].
    pub fn http(url: &str) -> Result<Self, Error> {
        Ok(Self { serves: Some("http"), ..Self::all(url)? })
    }

    /// Creates a proxy for requests to `https://` URLs.
    ///
    /// # Errors
    /// As [`Self::all`].
    pub fn https(url: &str) -> Result<Self, Error> {
        Ok(Self { serves: Some("https"), ..Self::all(url)? })
    }

    /// Sets the credentials in place of those of the URL.
    ///
    /// # Errors
    /// SOCKS knows names and passwords of 1 to 255 bytes only (RFC 1929 §2), HTTP no names with a colon (RFC
    /// 7617 §2).
    #[doc(alias = "basic_auth")]
    pub fn credentials(mut self, user: &str, password: &str) -> Result<Self, Error> {
        let credentials = Credentials { user: user.to_owned(), password: password.to_owned() };
        let server = (*self.server).clone().with(credentials).map_err(Error::usage)?;
        self.server = Arc::new(server);
        Ok(self)
    }

    /// Adds a field to each CONNECT, which asks an HTTP proxy for a tunnel; forwarded requests do not get it.
    ///
    /// # Errors
    /// It is not valid, or is one of the connection (RFC 9110 §7.6.1).
    pub fn connect_header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let mut server = (*self.server).clone();
        server.fields.append(name, value)?;
        self.server = Arc::new(server);
        Ok(self)
    }

    /// Sets hosts that are connected to without this proxy, separated by commas or spaces, as in the
    /// environment's `no_proxy`: a domain with or without a leading dot stands for itself and those below it,
    /// an address for itself, `10.0.0.0/8` for a network, `*` for all; a port may follow after a colon. Any
    /// other text is ignored.
    #[doc(alias = "no_proxy")]
    #[must_use]
    pub fn except(mut self, hosts: &str) -> Self {
        self.except = Exceptions::of(hosts);
        self
    }

    fn is_for(&self, to: &Destination) -> bool {
        self.serves.is_none_or(|scheme| scheme == to.scheme) && !self.except.cover(&to.host, to.port)
    }

    #[cfg(feature = "tls")]
    pub(crate) fn is_secure(&self) -> bool {
        self.server.kind == Kind::Http { is_secure: true }
    }
}

/// A proxy's address, protocol and credentials.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) kind: Kind,
    /// The host, an IPv6 address without brackets.
    pub(crate) host: String,
    /// The interface of this machine for its address.
    pub(crate) zone: Option<Zone>,
    pub(crate) port: u16,
    pub(crate) credentials: Option<Credentials>,
    /// The fields of each CONNECT.
    pub(crate) fields: FieldSection,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Http { is_secure: bool },
    Socks { looks_up: bool },
}

#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

/// Shows its URL without user and password.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.credentials.is_some() { "…@" } else { "" };
        let scheme = match self.kind {
            Kind::Http { is_secure: false } => "http",
            Kind::Http { is_secure: true } => "https",
            Kind::Socks { looks_up: false } => "socks5",
            Kind::Socks { looks_up: true } => "socks5h",
        };
        match self.host.contains(':') {
            true => {
                let zone = self.zone.as_ref().map(Zone::to_string).unwrap_or_default();
                write!(f, "{scheme}://{user}[{}{zone}]:{}", self.host, self.port)
            }
            false => write!(f, "{scheme}://{user}{}:{}", self.host, self.port),
        }
    }
}

impl Server {
    /// Parses the URL of a proxy; the error is the reason in words.
    fn of(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.trim().split_once("://").unwrap_or(("http", text.trim()));
        let (kind, port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Kind::Http { is_secure: false }, 80),
            "https" if cfg!(feature = "tls") => (Kind::Http { is_secure: true }, 443),
            "https" => return Err("TLS to a proxy needs the feature tls".to_owned()),
            "socks5" => (Kind::Socks { looks_up: false }, 1080),
            "socks5h" => (Kind::Socks { looks_up: true }, 1080),
            scheme => {
                return Err(format!(
                    "its scheme is {scheme}, and only http, https, socks5 and socks5h are supported"
                ));
            }
        };
        // A scheme that has no default port of its own, so that none is left out.
        let url = format!("proxy://{rest}");
        let (url, zone) = Zone::split(&url)?;
        let refused = |error| reason(&url, error);
        let url = Url::parse(&url).map_err(refused)?;
        let host = match url.host_str().unwrap_or_default() {
            "" => return Err("it has no host".to_owned()),
            host => Host::parse(host).map_err(refused)?,
        };
        let server = Self {
            kind,
            host: plain(&host),
            zone,
            port: url.port().unwrap_or(port),
            credentials: None,
            fields: FieldSection::new(),
        };
        if url.username().is_empty() && url.password().is_none() {
            return Ok(server);
        }
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let password = decoded(url.password().unwrap_or_default());
        Ok(server.with(Credentials { user: decoded(url.username()), password })?)
    }

    fn with(self, credentials: Credentials) -> Result<Self, &'static str> {
        let fits = |text: &str| (1..=255).contains(&text.len());
        match self.kind {
            Kind::Socks { .. } if !fits(&credentials.user) || !fits(&credentials.password) => {
                Err("a name and a password for SOCKS have 1 to 255 bytes each (RFC 1929 §2)")
            }
            Kind::Http { .. } if credentials.user.contains(':') => {
                Err("the user name contains a colon, which Basic credentials cannot carry (RFC 7617 §2)")
            }
            _ => Ok(Self { credentials: Some(credentials), ..self }),
        }
    }

    /// Returns the value of `proxy-authorization`, empty for none (RFC 7617 §2).
    pub(crate) fn authorization(&self) -> String {
        let Some(Credentials { user, password }) = &self.credentials else { return String::new() };
        format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
    }
}

/// Returns the error for an invalid proxy.
#[cold]
fn unusable(sentence: String) -> Error {
    Error::new(Phase::Build, Cause::Url(sentence.into()), Retry::Pointless)
}

/// Returns a host for lookups, an IPv6 address without brackets.
fn plain(host: &Host<String>) -> String {
    match host {
        Host::Domain(name) => name.clone(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    }
}

/// Returns the error of a broken connection to the proxy.
pub(crate) fn broken(error: io::Error) -> Error {
    Error::io(Phase::Proxy, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> (Kind, String, u16) {
        let Server { kind, host, port, .. } = Server::of(url).unwrap();
        (kind, host, port)
    }

    #[test]
    fn urls_of_proxies() {
        let http = Kind::Http { is_secure: false };
        let socks = |looks_up| Kind::Socks { looks_up };
        for (url, kind, host, port) in [
            ("http://between.example:3128", http, "between.example", 3128),
            ("between.example:3128", http, "between.example", 3128),
            ("between.example", http, "between.example", 80),
            ("http://between.example:80/", http, "between.example", 80),
            (" HTTP://[::1]:8080/ ", http, "::1", 8080),
            ("127.1:1", http, "127.0.0.1", 1),
            ("http://b\u{fc}cher.example", http, "xn--bcher-kva.example", 80),
            ("socks5://127.0.0.1:80", socks(false), "127.0.0.1", 80),
            ("socks5h://Between.example", socks(true), "between.example", 1080),
        ] {
            assert_eq!(server(url), (kind, host.to_owned(), port), "{url}");
        }
        let failed = |url| Proxy::all(url).unwrap_err().to_string();
        for (url, sentence) in [
            ("http://u:s3cret@a:99999", "http://…@a:99999: the port 99999 is above 65535"),
            ("u:s3cret@", "…@: it has no host"),
            (
                "ftp://s3cret@a",
                "ftp://…@a: its scheme is ftp, and only http, https, socks5 and socks5h are supported",
            ),
            (
                "socks5://s3cret@a",
                "socks5://…@a: a name and a password for SOCKS have 1 to 255 bytes each (RFC 1929 §2)",
            ),
        ] {
            assert_eq!(failed(url), format!("cannot use the proxy {sentence}"));
        }
        for url in [
            "",
            "ftp://a",
            "socks4://a",
            "http://",
            "http:///a",
            "http://:80/",
            "socks5:///a",
            "http:a",
            "http://a:x",
            "http://a b",
            "http://a:99999",
        ] {
            assert!(Server::of(url).is_err(), "{url}");
        }
    }

    #[cfg(feature = "tls")]
    #[test]
    fn proxies_over_tls() {
        assert_eq!(
            server("https://between.example"),
            (Kind::Http { is_secure: true }, "between.example".into(), 443)
        );
    }

    #[test]
    fn credentials_are_decoded_and_never_shown() {
        let server = Server::of("http://al%40ula:p%3ass@between.example").unwrap();
        let Credentials { user, password } = server.credentials.as_ref().unwrap();
        assert_eq!((&**user, &**password), ("al@ula", "p:ss"));
        assert_eq!(server.authorization(), "Basic YWxAdWxhOnA6c3M=");
        let shown = format!("{:?}", Proxy::all("http://somebody:secret@a").unwrap());
        assert!(shown.contains("http://…@a:80") && !shown.contains("secret"), "{shown}");
        assert!(!shown.contains("somebody"), "{shown}");
        assert!(Server::of("socks5://user@a").is_err(), "no password");
        assert!(Proxy::all("http://a").unwrap().credentials("a:b", "").is_err());
        let other = Proxy::all("http://a:b@a").unwrap().credentials("c", "d").unwrap();
        assert_eq!(other.server.authorization(), "Basic Yzpk");
    }
}
