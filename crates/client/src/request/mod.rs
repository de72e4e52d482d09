//! A request, plain or prepared.

pub(crate) mod auth;
pub(crate) mod call;
pub(crate) mod content;
pub(crate) mod hole_values;
pub(crate) mod host;
pub(crate) mod method_text;
pub(crate) mod parts;
pub(crate) mod path;
mod plain;
pub(crate) mod prepared;
pub(crate) mod user_agent;

use std::sync::Arc;

use alula_fields::{Decimal, FieldSection, KnownName, Method};
use alula_machine::{Limits, OutBuf, StreamKey};
use alula_net::{Asked, Error, Machine, Noted, Refusal, Speaks, Version, check_request, h1};
use url::Url;

pub(crate) use self::plain::Plain;
use crate::{
    client::Client,
    pool::origin::Origin,
    request::prepared::{Given, Prepared},
};

/// The request of a call.
pub(crate) enum Request<'a> {
    /// No request, because the call failed while it was built.
    None,
    Plain(Plain<'a>),
    Prepared(Prepared, Given<'a>),
}

impl Request<'_> {
    pub(crate) fn origin(&self) -> Result<&Arc<Origin>, Error> {
        match self {
            Self::Plain(plain) => Ok(&plain.origin),
            Self::Prepared(prepared, ..) => Ok(prepared.origin()),
            Self::None => Err(Error::usage("the call has no request: its URL or its method was refused")),
        }
    }

    /// Returns the method as it is sent.
    pub(crate) fn method(&self) -> &str {
        match self {
            Self::Plain(plain) => &plain.method,
            Self::Prepared(prepared, _) => prepared.method(),
            Self::None => "",
        }
    }

    /// Returns the request for errors.
    #[inline]
    pub(crate) fn noted(&self) -> Noted<'_> {
        let path = match self {
            Self::Plain(plain) => plain.path.as_str(),
            Self::Prepared(prepared, given) => prepared.path(given),
            Self::None => "",
        };
        Noted { method: self.method(), path }
    }

    /// Returns the same failure with the request and its origin.
    #[cold]
    pub(crate) fn named(&self, error: Error) -> Error {
        let (Ok(origin), Noted { method, path }) = (self.origin(), self.noted()) else { return error };
        error.asking(|| Asked::new(method, &origin.prefix, path))
    }

    /// Returns the URL with its fragment and without a zone; `*` is part of none.
    #[cold]
    pub(crate) fn url(&self) -> Option<Url> {
        let (origin, path, fragment) = match self {
            Self::Plain(plain) => (&plain.origin, plain.path.as_str(), plain.path.fragment()),
            Self::Prepared(prepared, given) => (prepared.origin(), prepared.path(given), None),
            Self::None => return None,
        };
        let path = Some(path).filter(|path| path.starts_with('/'))?;
        let mut url = Url::parse(&[origin.sent_prefix(), path].concat()).ok()?;
        url.set_fragment(fragment);
        Some(url)
    }

    /// Returns true if sending it twice has the effect of sending it once (RFC 9110 §9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        match self {
            Self::Plain(plain) => Method::parse(&plain.method).is_ok_and(Method::is_idempotent),
            Self::Prepared(prepared, _) => prepared.is_idempotent(),
            Self::None => false,
        }
    }

    /// Returns true if the content should wait until the server asks for it (RFC 9110 §10.1.1).
    pub(crate) fn expects_continue(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.head.as_ref().is_some_and(|head| head.fields.expects_continue()),
            Self::Prepared(prepared, _) => prepared.expects_continue(),
            Self::None => false,
        }
    }

    /// Returns true if its method usually has no content (RFC 9110 §9.3), and no field announces any.
    pub(crate) fn may_end_with_head(&self) -> bool {
        if !matches!(self.method(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
            return false;
        }
        match self {
            Self::Plain(plain) => !plain.says_content(),
            Self::Prepared(prepared, _) => !prepared.states_length() && !prepared.expects_continue(),
            Self::None => false,
        }
    }

    /// Sends its head, with the fields `bare` if it has no own ones.
    #[inline]
    pub(crate) fn send(
        &self,
        bare: &FieldSection,
        machine: &mut Machine,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        match self {
            Self::Plain(plain) => plain.send(bare, machine, end, out),
            Self::Prepared(prepared, given) => prepared.send(given, machine, end, out),
            Self::None => Err(h1::SendError::Closed.into()),
        }
    }

    /// Checks that a connection of one of these versions could send it; with `end` it has no content.
    /// Allocates nothing.
    ///
    /// # Errors
    /// No connection would ever send it.
    #[cold]
    pub(crate) fn check(
        &self,
        bare: &FieldSection,
        speaks: Speaks,
        end: bool,
        limits: &Limits,
    ) -> Result<(), Error> {
        let versions = [Version::Http2, Version::Http1].into_iter().filter(|version| speaks.has(*version));
        let mut refusal = None;
        for version in versions {
            let checked = match self {
                Self::Plain(plain) => plain.with_head(bare, |head| check_request(version, head, end, limits)),
                Self::Prepared(prepared, given) => prepared.check(given, version, end, limits),
                Self::None => Ok(()),
            };
            match checked {
                Ok(()) => return Ok(()),
                Err(error) => refusal = Some(error),
            }
        }
        refusal.map_or(Ok(()), |refusal| Err(Error::refused(refusal)))
    }

    /// States the length of the content (RFC 9110 §8.6), unless the caller did.
    pub(crate) fn state_length(&mut self, client: &Client, length: Option<usize>) -> Result<(), Error> {
        let Some(length) = length else { return Ok(()) };
        match self {
            Self::Plain(plain) => {
                let head = plain.head_mut(client);
                if !head.fields.contains(KnownName::CONTENT_LENGTH) {
                    head.fields.append(KnownName::CONTENT_LENGTH, Decimal::of(length as u64).as_bytes())?;
                }
                Ok(())
            }
            Self::Prepared(prepared, given) => {
                if !prepared.states_length() {
                    given.length(length as u64);
                }
                Ok(())
            }
            Self::None => Ok(()),
        }
    }
}

impl<'a> Request<'a> {
    /// Converts it into a request whose parts can be changed.
    #[cold]
    pub(crate) fn make_plain(&mut self, client: &Client) -> Result<&mut Plain<'a>, Error> {
        if let Self::Prepared(prepared, given) = self {
            let plain = prepared.to_plain(given, client.lend_head())?;
            given.give_back(client);
            *self = Self::Plain(plain);
        }
        match self {
            Self::Plain(plain) => Ok(plain),
            _ => Err(Error::usage("the call has no request: its URL or its method was refused")),
        }
    }
}
