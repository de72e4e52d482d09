//! The blocking client.

use std::sync::Arc;

use alula_net::{Error, Ledger};

use super::{call::Call, driver::Driver};
use crate::{
    builder::ClientBuilder,
    request::{
        method_text::IntoMethod,
        prepared::{Prepare, Prepared},
    },
    url::url_text::IntoUrl,
};

/// An HTTP client whose calls block. Cloning it is cheap; clones share connections and runtime, on as many
/// threads as you like.
///
/// Dropping the last clone, with the responses that came by it, closes the connections. See [the
/// module](super) for what that means while nobody calls.
#[derive(Clone)]
pub struct Client {
    pub(super) driver: Arc<Driver>,
}

impl Client {
    /// Creates a client with the default settings.
    ///
    /// # Errors
    /// The system has no descriptors left for a runtime.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build_blocking()
    }

    /// Returns a builder, which is that of the async client, with [`ClientBuilder::build_blocking`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = alula::blocking::Client::builder().timeout(Duration::from_secs(30));
    /// let client = builder.build_blocking()?;
    /// # Ok::<(), alula::Error>(())
    /// ```
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the ledger: memory held and rules broken by peers, over all connections of this client.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.driver.client().ledger()
    }

    /// Begins a GET request to this URL (RFC 9110 §9.3.1).
    ///
    /// Allocates nothing once warm when the URL begins with an origin used before, written the same way.
    pub fn get<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("GET", url)
    }

    /// Begins a HEAD request to this URL (RFC 9110 §9.3.2).
    pub fn head<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("HEAD", url)
    }

    /// Begins a POST request to this URL (RFC 9110 §9.3.3).
    pub fn post<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("POST", url)
    }

    /// Begins a PUT request to this URL (RFC 9110 §9.3.4).
    pub fn put<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("PUT", url)
    }

    /// Begins a PATCH request to this URL (RFC 5789 §2).
    pub fn patch<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("PATCH", url)
    }

    /// Begins a DELETE request to this URL (RFC 9110 §9.3.5).
    pub fn delete<'a>(&self, url: impl IntoUrl<'a>) -> Call<'a> {
        self.request("DELETE", url)
    }

    /// Begins a request with any method, given by its type or its name; it is sent as it is spelled (RFC 9110
    /// §9.1). A method that is no token is reported by `send`.
    pub fn request<'a>(&self, method: impl IntoMethod<'a>, url: impl IntoUrl<'a>) -> Call<'a> {
        Call::new(&self.driver, self.driver.client().request(method, url))
    }

    /// Begins a request that is checked and planned once, then sent often.
    ///
    /// # Errors
    /// The URL cannot be used. A method that is no token is reported by [`build`](Prepare::build).
    pub fn prepare<'a>(&self, method: impl IntoMethod<'a>, url: impl IntoUrl<'a>) -> Result<Prepare, Error> {
        self.driver.client().prepare(method, url)
    }

    /// Begins a call of a prepared request, which it shares. Allocates nothing once warm.
    pub fn call<'a>(&self, prepared: &Prepared) -> Call<'a> {
        Call::new(&self.driver, self.driver.client().call(prepared))
    }
}

impl ClientBuilder {
    /// Builds a blocking client with these settings.
    ///
    /// # Errors
    /// As [`build`](Self::build), and when the system has no descriptors left for a runtime.
    pub fn build_blocking(self) -> Result<Client, Error> {
        Ok(Client { driver: Driver::new(self)? })
    }
}

const _: () = {
    const fn is_shared<T: Clone + Send + Sync>() {}
    is_shared::<Client>();
};

opaque! {
    Client: "Client";
}
