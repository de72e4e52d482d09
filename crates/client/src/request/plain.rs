//! A request that is built step by step, and can be changed until it is sent.

use std::{borrow::Cow, sync::Arc};

use alula_fields::{FieldSection, Head, KnownName, RequestHead};
use alula_machine::{OutBuf, StreamKey};
use alula_net::{Machine, Refusal};

use crate::{client::Client, pool::origin::Origin, request::path::Path};

pub(crate) struct Plain<'a> {
    pub(crate) origin: Arc<Origin>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) path: Path<'a>,
    /// The head, lent by the client once there is a field.
    pub(crate) head: Option<Box<Head>>,
    pub(crate) rare: Option<Box<PlainRare<'a>>>,
    /// The caller's own `cookie`, after a jar has added to it.
    #[cfg(feature = "cookies")]
    pub(crate) own_cookies: Option<Box<[u8]>>,
}

/// The rare parts of a request. They are in a box, since calls are moved about while they are built.
#[derive(Default)]
pub(crate) struct PlainRare<'a> {
    /// The protocol of an extended CONNECT.
    pub(crate) protocol: Option<&'a str>,
    /// The host in place of the URL's.
    pub(crate) host: Option<Box<str>>,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(origin: Arc<Origin>, method: Cow<'a, str>, path: Path<'a>) -> Self {
        Self {
            origin,
            method,
            path,
            head: None,
            rare: None,
            #[cfg(feature = "cookies")]
            own_cookies: None,
        }
    }

    /// Returns an owned copy as it is sent, without a protocol. Allocates.
    #[cold]
    pub(crate) fn to_owned(&self, client: &Client) -> Plain<'static> {
        let method = Cow::Owned(self.method.clone().into_owned());
        let path = Path::Owned(self.path.as_str().to_owned());
        let mut plain = Plain::new(self.origin.clone(), method, path);
        if let Some(head) = &self.head {
            plain.head_mut(client).fields.copy_from(&head.fields);
        }
        if let Some(host) = self.rare.as_ref().and_then(|rare| rare.host.clone()) {
            plain.rare_mut().host = Some(host);
        }
        plain
    }

    /// Returns method, URL, host and fields as one text, with the fields in a fixed order; content depends on
    /// the same fields. Allocates.
    #[cold]
    pub(crate) fn identity(&self, bare: &FieldSection) -> Vec<u8> {
        let fields = self.head.as_ref().map_or(bare, |head| &head.fields);
        let mut lines: Vec<_> = fields.iter().map(|field| (field.name_bytes(), field.value())).collect();
        lines.sort_unstable();
        let host = self.rare.as_ref().and_then(|rare| rare.host.as_deref()).unwrap_or_default();
        let url = [&*self.method, " ", &*self.origin.prefix, self.path.as_str(), "\n", host, "\n"].concat();
        let mut text = url.into_bytes();
        lines.iter().for_each(|(name, value)| text.extend([*name, b":", *value, b"\n"].concat()));
        text
    }

    /// Gives the head back.
    #[inline]
    pub(crate) fn give_back(&mut self, client: &Client) {
        if let Some(head) = self.head.take() {
            client.give_head(head);
        }
    }

    /// Returns true if its fields announce content, or it opens a tunnel.
    pub(super) fn says_content(&self) -> bool {
        let says = |name| {
            matches!(name, KnownName::CONTENT_LENGTH | KnownName::TRANSFER_ENCODING | KnownName::EXPECT)
        };
        let is_tunnel = self.rare.as_ref().is_some_and(|rare| rare.protocol.is_some());
        is_tunnel || self.head.as_ref().is_some_and(|head| head.fields.contains_any(says))
    }

    /// Returns the rare parts, creating them if necessary. Allocates.
    #[cold]
    pub(crate) fn rare_mut(&mut self) -> &mut PlainRare<'a> {
        self.rare.get_or_insert_default()
    }

    /// Returns the head with its fields, lent by the client.
    #[inline]
    pub(crate) fn head_mut(&mut self, client: &Client) -> &mut Head {
        self.head.get_or_insert_with(|| client.lend_head())
    }

    pub(super) fn send(
        &self,
        bare: &FieldSection,
        machine: &mut Machine,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, Refusal> {
        self.with_head(bare, |head| machine.send_request(head, end, out))
    }

    #[inline]
    pub(super) fn with_head<T>(&self, bare: &FieldSection, then: impl FnOnce(&RequestHead<'_>) -> T) -> T {
        let rare = self.rare.as_deref();
        let head = RequestHead {
            method: &self.method,
            scheme: self.origin.scheme,
            authority: rare.and_then(|rare| rare.host.as_deref()).unwrap_or(self.origin.authority()),
            path: self.path.as_str(),
            protocol: rare.and_then(|rare| rare.protocol),
            fields: self.head.as_ref().map_or(bare, |head| &head.fields),
        };
        then(&head)
    }
}

#[cfg(feature = "cookies")]
impl Plain<'_> {
    /// Takes what the jar added out again: the caller's own stay.
    pub(crate) fn take_cookies_out(&mut self) -> Result<(), alula_net::Error> {
        if let (Some(own), Some(head)) = (self.own_cookies.take(), &mut self.head) {
            head.fields.remove(KnownName::COOKIE);
            if !own.is_empty() {
                head.fields.append(KnownName::COOKIE, own)?;
            }
        }
        Ok(())
    }
}
