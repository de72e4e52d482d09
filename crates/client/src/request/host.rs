//! A host that the caller sets in place of the URL's (RFC 9110 §7.2).
//!
//! Rule: the connection, the name that TLS is for, cookies and credentials stay those of the URL, and the
//! choice ends with a redirect to another origin.

use alula_fields::{Authority, FieldSection, KnownName};
use alula_net::Error;

use crate::{pool::origin::Origin, request::Plain};

impl Plain<'_> {
    /// Takes the host out of the fields: HTTP/1.1 sends it as the first of them, HTTP/2 as `:authority`.
    #[cold]
    pub(crate) fn take_host(&mut self) -> Result<(), Error> {
        let is_extended = self.rare.as_ref().is_some_and(|rare| rare.protocol.is_some());
        let is_target = self.method == "CONNECT" && !is_extended;
        if let Some(head) = &mut self.head {
            let host = take_host(&mut head.fields, is_target, &self.origin)?;
            if host.is_some() || self.rare.is_some() {
                self.rare_mut().host = host;
            }
        }
        Ok(())
    }
}

/// Takes the one host out of the fields; drops it if it is the origin's. `is_target` says that the request
/// names its authority as the target.
///
/// # Errors
/// It is no host and port, or comes twice; or the request cannot carry another one than its URL names.
pub(crate) fn take_host(
    fields: &mut FieldSection,
    is_target: bool,
    origin: &Origin,
) -> Result<Option<Box<str>>, Error> {
    let host = the_one(fields)?;
    fields.remove(KnownName::HOST);
    // The URL names the same host: nothing differs, so that such a request stays on the usual path.
    if host.eq_ignore_ascii_case(origin.authority()) {
        return Ok(None);
    }
    if is_target {
        return Err(Error::usage("a CONNECT asks for the host of its URL, and no other (RFC 9112 §3.2.3)"));
    }
    if origin.asks_proxy() {
        return Err(Error::usage(
            "a proxy takes the host of http:// requests from the URL, not from the field host (RFC 9112 §3.2.2)",
        ));
    }
    Ok(Some(host))
}

fn the_one(fields: &FieldSection) -> Result<Box<str>, Error> {
    let mut hosts = fields.get_all(KnownName::HOST);
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(Error::usage("a request has one field host at the most (RFC 9112 §3.2)"));
    };
    let host = std::str::from_utf8(host).map_err(|_| Error::usage("the field host is no text"))?;
    Authority::parse(host)?;
    Ok(host.into())
}
