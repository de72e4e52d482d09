//! The path of a call, in the memory in which it came.

use std::borrow::Cow;

use crate::{request::auth::Credentials, url::location::Location};

/// The path of a call: a part of the given URL, or of its normalised form. With a tag of its own, a look at
/// which one costs less than at the spare values of a `String`, for requests as well.
#[repr(u8)]
pub(crate) enum Path<'u> {
    Given(&'u str),
    Owned(String),
    Parsed(Box<Parsed>),
}

/// The parts of a URL beside its origin.
pub(crate) struct Parsed {
    path: String,
    fragment: Option<String>,
    user: Option<Credentials>,
}

impl<'u> Path<'u> {
    /// Returns the path of a parsed URL.
    pub(crate) fn parsed(location: Location) -> Self {
        let Location { path, fragment, user, .. } = location;
        Self::Parsed(Box::new(Parsed { path, fragment, user }))
    }

    /// Returns the path in so many bytes at the end of a URL, in its memory; `/` for a URL without a path.
    pub(crate) fn ending(mut url: String, path_len: usize) -> Self {
        let at = url.len() - path_len;
        // A URL without a path, such as `http://a`: it is asked for `/` (RFC 9112 §3.2.1).
        if url.as_bytes().get(at) != Some(&b'/') {
            return Self::Given("/");
        }
        url.drain(..at);
        Self::Owned(url)
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Given(path) => path,
            Self::Owned(path) => path,
            Self::Parsed(parsed) => &parsed.path,
        }
    }

    /// Replaces the path; credentials of the URL stay.
    pub(crate) fn replace(&mut self, path: Cow<'u, str>) {
        match (self, path) {
            // The credentials of the URL are for the origin, and stay when the path changes.
            (Self::Parsed(parsed), path) if parsed.user.is_some() => {
                (parsed.path, parsed.fragment) = (path.into_owned(), None);
            }
            (own, Cow::Borrowed(path)) => *own = Self::Given(path),
            (own, Cow::Owned(path)) => *own = Self::Owned(path),
        }
    }

    /// Changes the text of the path.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut String)) {
        match self {
            Self::Given(path) => {
                let mut path = (*path).to_owned();
                change(&mut path);
                *self = Self::Owned(path);
            }
            Self::Owned(path) => change(path),
            Self::Parsed(parsed) => change(&mut parsed.path),
        }
    }

    /// Returns true if the URL has credentials.
    pub(crate) fn has_user(&self) -> bool {
        matches!(self, Self::Parsed(parsed) if parsed.user.is_some())
    }

    /// Takes the credentials of the URL, if they were not taken yet.
    pub(crate) fn take_user(&mut self) -> Option<Credentials> {
        match self {
            Self::Given(_) | Self::Owned(_) => None,
            Self::Parsed(parsed) => parsed.user.take(),
        }
    }

    /// Returns the fragment, which is not sent, but inherited by redirects (RFC 9110 §10.2.2).
    pub(crate) fn fragment(&self) -> Option<&str> {
        match self {
            Self::Given(_) | Self::Owned(_) => None,
            Self::Parsed(parsed) => parsed.fragment.as_deref(),
        }
    }
}
