//! The beginnings of calls: by method and URL, or prepared.

use std::borrow::Cow;

use alula_net::Error;

use super::Client;
use crate::{
    request::{
        call::Call,
        method_text::IntoMethod,
        prepared::{Prepare, Prepared},
    },
    url::url_text::IntoUrl,
};

impl Client {
    /// Begins a GET request to this URL (RFC 9110 §9.3.1).
    ///
    /// Allocates nothing once warm when the URL begins with an origin used before, written the same way.
    pub fn get<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("GET"), url.into_url_text())
    }

    /// Begins a HEAD request to this URL (RFC 9110 §9.3.2).
    pub fn head<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("HEAD"), url.into_url_text())
    }

    /// Begins a POST request to this URL (RFC 9110 §9.3.3).
    pub fn post<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("POST"), url.into_url_text())
    }

    /// Begins a PUT request to this URL (RFC 9110 §9.3.4).
    pub fn put<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("PUT"), url.into_url_text())
    }

    /// Begins a PATCH request to this URL (RFC 5789 §2).
    pub fn patch<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("PATCH"), url.into_url_text())
    }

    /// Begins a DELETE request to this URL (RFC 9110 §9.3.5).
    pub fn delete<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(Cow::Borrowed("DELETE"), url.into_url_text())
    }

    /// Begins a request with any method, given by its type or its name; it is sent as it is spelled (RFC 9110
    /// §9.1). A method that is no token is reported by `send`.
    pub fn request<'a>(&self, method: impl IntoMethod<'a>, url: impl IntoUrl<'a>) -> Call<'a> {
        self.begin(method.into_method_text(), url.into_url_text())
    }

    fn begin<'a>(&self, method: Cow<'a, str>, url: Cow<'a, str>) -> Call<'a> {
        match self.locate(url) {
            Ok((origin, path)) => Call::plain(self.clone(), origin, method, path),
            Err(error) => Call::failed(self.clone(), error),
        }
    }

    /// Begins a request that is checked and planned once, then sent often.
    ///
    /// # Errors
    /// The URL cannot be used. A method that is no token is reported by [`build`](Prepare::build).
    pub fn prepare<'a>(&self, method: impl IntoMethod<'a>, url: impl IntoUrl<'a>) -> Result<Prepare, Error> {
        let (origin, mut path) = self.locate(url.into_url_text())?;
        let user = path.take_user();
        Ok(Prepare::new(self, origin, user, method.into_method_text().into_owned(), path.as_str()))
    }

    /// Begins a call of a prepared request, which it shares. Allocates nothing once warm.
    pub fn call<'a>(&self, prepared: &Prepared) -> Call<'a> {
        Call::prepared(self.clone(), prepared.clone())
    }
}
