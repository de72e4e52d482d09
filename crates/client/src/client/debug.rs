//! `Debug` of what may hold credentials: they are not shown.
//!
//! Rule: a URL is shown by [`masked_url`], a field by its own `Debug`, which hides what is secret.

use std::fmt;

use alula_fields::masked_url;

use crate::{
    builder::{ClientBuilder, Settings},
    client::Client,
    follow::redirects::Redirect,
    request::{
        Request,
        call::Call,
        content::{Content, Multipart, Part},
        prepared::{MadeOf, Prepare, Prepared},
    },
    send::pending::PendingResponse,
};

impl fmt::Debug for ClientBuilder {
    /// Shows the fields that are sent with every call, the proxies, the deadline and the limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        settings(f, "ClientBuilder", &self.settings)
    }
}

impl fmt::Debug for Client {
    /// Shows the fields that are sent with every call, the proxies, the deadline and the limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        settings(f, "Client", self.settings())
    }
}

fn settings(f: &mut fmt::Formatter<'_>, name: &str, settings: &Settings) -> fmt::Result {
    f.debug_struct(name)
        .field("fields", &settings.policy.fields)
        .field("proxies", &settings.connect.proxies)
        .field("timeout", &settings.deadlines.total)
        .field("limits", &settings.protocol.config.limits)
        .finish_non_exhaustive()
}

impl fmt::Debug for Call<'_> {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("method", &self.request.method());
        if let Ok(origin) = self.request.origin() {
            let url = format!("{}{}", origin.prefix, self.request.noted().path);
            call.field("url", &masked_url(&url));
        }
        if let Request::Plain(plain) = &self.request {
            call.field("fields", &plain.head.as_ref().map(|head| &head.fields));
        }
        call.field("timeout", &self.deadline.get()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Prepare {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made_of().show(f.debug_struct("Prepare"))
    }
}

impl fmt::Debug for Prepared {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made_of().show(f.debug_struct("Prepared"))
    }
}

impl MadeOf<'_> {
    fn show(&self, mut request: fmt::DebugStruct<'_, '_>) -> fmt::Result {
        let url = masked_url(&[self.origin, self.path].concat());
        request.field("method", &self.method).field("url", &url).field("fields", self.fields);
        request.finish_non_exhaustive()
    }
}

impl fmt::Debug for Redirect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redirect")
            .field("status", &self.status())
            .field("method", &self.method())
            .field("from", &masked_url(self.from()))
            .field("to", &masked_url(self.to()))
            .field("count", &self.count())
            .finish()
    }
}

/// Shows nothing of what these hold.
macro_rules! opaque {
    ($($name:ty: $shown:literal;)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($shown).finish_non_exhaustive()
            }
        }
    )*};
}

opaque! {
    Content: "Content";
    Multipart: "Multipart";
    Part: "Part";
    PendingResponse: "PendingResponse";
}

#[cfg(feature = "http")]
opaque! {
    crate::adapters::ResponseContent: "ResponseContent";
}

#[cfg(feature = "blocking")]
opaque! {
    crate::blocking::Client: "Client";
    crate::blocking::Body<'_>: "Body";
    crate::blocking::BodyWriter: "BodyWriter";
    crate::blocking::PendingResponse: "PendingResponse";
}

#[cfg(feature = "blocking")]
impl fmt::Debug for crate::blocking::Call<'_> {
    /// Shows what the [`Debug`](fmt::Debug) of [`Call`] shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}
