//! The parsers of data from peers, exposed to the fuzz targets in `crates/trials`. This is no API: it may
//! change with any version.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use alula_machine::Limits;
use alula_net::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use url::Url;

use crate::{
    connecting::{self, Credentials, Target},
    follow::{redirects, retries},
    url::location::Location,
};

/// The parts of a parsed URL.
#[derive(Debug, Eq, PartialEq)]
pub struct Located {
    /// The URL as text.
    pub url: String,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The host, IPv6 without brackets.
    pub host: String,
    /// The authority that is sent.
    pub authority: String,
    /// The path and query that are sent.
    pub path: String,
}

/// Asks a SOCKS proxy that answers with these bytes, so many in each read; returns the bytes after its
/// answer.
///
/// # Errors
/// The proxy refused, or broke off.
pub fn ask_socks(answer: &[u8], piece: usize, with_credentials: bool) -> Result<Vec<u8>, Error> {
    let credentials = Credentials { user: "user".to_owned(), password: "secret".to_owned() };
    let credentials = with_credentials.then_some(&credentials);
    let mut proxy = Scripted { rest: answer, piece };
    at_once(connecting::ask_socks(&mut proxy, Target::Name("a.example", 443), credentials))?;
    Ok(proxy.rest.to_vec())
}

/// Asks an HTTP proxy that answers with these bytes for a tunnel; returns the bytes after its answer.
///
/// # Errors
/// The proxy refused, broke a rule, or broke off.
pub fn ask_for_tunnel(answer: &[u8], piece: usize) -> Result<Vec<u8>, Error> {
    let mut proxy = Scripted { rest: answer, piece };
    let (_, mut rest) = at_once(connecting::ask_for_tunnel(
        &mut proxy,
        "a.example:443",
        "",
        &alula_fields::FieldSection::new(),
        &Limits::default(),
    ))?;
    rest.extend_from_slice(proxy.rest);
    Ok(rest)
}

/// Returns the wait that a field `retry-after` asks for.
pub fn retry_after(value: &[u8], now: SystemTime) -> Option<Duration> {
    retries::retry_after(value, now)
}

/// Returns the URL that a field `location` stands for, relative to a URL.
///
/// # Errors
/// It leads nowhere.
pub fn location(from: &str, location: &[u8]) -> Result<Located, Error> {
    let from = Url::parse(from).map_err(|_| Error::usage("the redirect has no URL to start from"))?;
    let to = redirects::resolve(&from, location)?;
    let at = Location::of(&to)?;
    Ok(Located::new(to.into(), at))
}

/// Returns the parts of a URL.
///
/// # Errors
/// It cannot be called.
pub fn url(text: &str) -> Result<Located, Error> {
    Location::parse(text).map(|location| Located::new(text.to_owned(), location))
}

impl Located {
    fn new(url: String, location: Location) -> Self {
        let Location { scheme, host, authority, path, .. } = location;
        Self { url, scheme, host, authority, path }
    }
}

/// A transport that accepts all output and returns given input.
struct Scripted<'s> {
    rest: &'s [u8],
    piece: usize,
}

impl AsyncRead for Scripted<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let bytes = self.rest.len().min(self.piece.max(1)).min(buf.remaining());
        let (now, later) = self.rest.split_at(bytes);
        buf.put_slice(now);
        self.rest = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Scripted<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Returns the result of a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("a scripted transport is always ready"),
    }
}
