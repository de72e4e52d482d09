//! The client: its origins and its spare heads.

mod requests;

#[cfg(feature = "tls")]
use std::sync::OnceLock;
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use alula_fields::Head;
use alula_net::{Error, Ledger};
use url::Url;

use crate::{
    builder::{ClientBuilder, Settings},
    connecting::{RouteSettings, Tls},
    pool::{origin::Origin, origins::Origins},
    request::{hole_values::HoleValues, path::Path},
    url::location::Location,
};

/// The most heads that are kept for the next calls.
const SPARES_MAX: usize = 256;
/// The memory that a spare head may keep, in bytes.
const SPARE_HEAD_BYTES: usize = 4 * 1024;

/// An HTTP client. Cloning it is cheap; clones share connections.
///
/// Dropping the last clone closes the connections once their calls have ended: over HTTP/1.1 in the same
/// moment, over HTTP/2 after 20 ms in which late PINGs are answered. A runtime that ends does not wait for
/// that: GOAWAY, the end of TLS and FIN are written with it.
///
/// One client may be used from many runtimes, as a `static` one is in tests. A connection belongs to the
/// runtime on which it was opened: calls use connections of their own runtime alone, and bounds on
/// connections are for each runtime. A response has to be read before the runtime ends on which its call was
/// sent ([`Cause::RuntimeEnded`](crate::Cause::RuntimeEnded)), and while that is driven.
///
/// A call has its own handle on the client, so that it may be sent by a task of its own:
///
/// ```no_run
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// let client = alula::Client::new()?;
/// let sent: Vec<_> = (1..=3)
///     .map(|page| tokio::spawn(client.get(format!("https://example.com/pages/{page}")).send()))
///     .collect();
/// for response in sent {
///     println!("{}", response.await??.status());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Arc<RouteSettings>,
    ledger: Arc<Ledger>,
    #[cfg(feature = "tls")]
    tls: OnceLock<Arc<rustls::ClientConfig>>,
    origins: Mutex<Origins>,
    #[expect(clippy::vec_box, reason = "they are handed on from hand to hand")]
    spares: Mutex<Vec<Box<Head>>>,
    #[expect(clippy::vec_box, reason = "they are handed on from hand to hand")]
    hole_values: Mutex<Vec<Box<HoleValues>>>,
}

impl Client {
    /// Creates a client with the default settings. The platform's roots are read when the first `https://`
    /// URL is called.
    ///
    /// # Errors
    /// A proxy that the environment names cannot be used.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns a builder for a client with other settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    fn with(settings: Settings) -> Self {
        let ledger = Arc::new(Ledger::new(&settings.protocol.config.limits));
        let inner = Inner {
            settings: Arc::new(RouteSettings::new(settings, ledger.clone())),
            ledger,
            #[cfg(feature = "tls")]
            tls: OnceLock::new(),
            origins: Mutex::default(),
            spares: Mutex::default(),
            hole_values: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the ledger: memory held and rules broken by peers, over all connections of this client.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.inner.ledger.clone()
    }

    #[inline]
    fn locate<'u>(&self, url: Cow<'u, str>) -> Result<(Arc<Origin>, Path<'u>), Error> {
        match url {
            Cow::Borrowed(url) => self.locate_borrowed(url),
            Cow::Owned(url) => self.locate_owned(url),
        }
    }

    #[inline]
    fn locate_borrowed<'u>(&self, url: &'u str) -> Result<(Arc<Origin>, Path<'u>), Error> {
        if let Some((origin, path)) = self.origins().find(url) {
            return Ok((origin, Path::Given(path)));
        }
        self.locate_parsed(Location::parse(url)?)
    }

    /// Does the same as [`Self::locate`] for an owned string, which the path may reuse.
    fn locate_owned(&self, url: String) -> Result<(Arc<Origin>, Path<'static>), Error> {
        let found = self.origins().find(&url).map(|(origin, path)| (origin, path.len()));
        if let Some((origin, path_len)) = found {
            return Ok((origin, Path::ending(url, path_len)));
        }
        self.locate_parsed(Location::parse(&url)?)
    }

    /// Does the same as [`Self::locate`] for a URL in a response of this origin, such as a redirect's.
    pub(crate) fn locate_from(
        &self,
        origin: &Origin,
        url: &Url,
    ) -> Result<(Arc<Origin>, Path<'static>), Error> {
        let zone = origin.zone_for(url).cloned();
        self.locate_parsed(Location { zone, ..Location::of(url)? })
    }

    fn locate_parsed(&self, location: Location) -> Result<(Arc<Origin>, Path<'static>), Error> {
        Self::check(&location)?;
        let origin = self.origin(&location)?;
        Ok((origin, Path::parsed(location)))
    }

    fn check(location: &Location) -> Result<(), Error> {
        if location.scheme == "https" && cfg!(not(feature = "tls")) {
            return Err(Error::usage("https:// needs the feature tls"));
        }
        Ok(())
    }

    fn origin(&self, location: &Location) -> Result<Arc<Origin>, Error> {
        if let Some(origin) = self.origins().get(&location.prefix()) {
            return Ok(origin);
        }
        let tls = self.tls(location)?;
        let origin = Arc::new(Origin::new(location, self.inner.settings.clone(), tls));
        let mut origins = self.origins();
        if let Some(same) = origins.get(&origin.prefix) {
            return Ok(same);
        }
        // Its connections are closed without the lock.
        let forgotten = origins.add(origin.clone(), self.settings().pool.origins_max);
        drop(origins);
        drop(forgotten);
        Ok(origin)
    }

    /// Returns the TLS settings for this origin, if it uses TLS.
    #[cfg(feature = "tls")]
    fn tls(&self, location: &Location) -> Result<Option<Tls>, Error> {
        if !self.settings().connect.needs_tls(location.scheme) {
            return Ok(None);
        }
        if let Some(tls) = self.inner.tls.get() {
            return Ok(Some(tls.clone()));
        }
        let made = Arc::new(self.settings().connect.trust.config(self.settings().protocol.speaks)?);
        Ok(Some(self.inner.tls.get_or_init(|| made).clone()))
    }

    #[cfg(not(feature = "tls"))]
    fn tls(&self, _: &Location) -> Result<Option<Tls>, Error> {
        Ok(None)
    }

    /// Lets all connections process what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.origins().iter().for_each(|origin| origin.look_in());
    }

    fn origins(&self) -> MutexGuard<'_, Origins> {
        self.inner.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.inner.settings.client
    }

    #[cfg(test)]
    pub(crate) fn route_settings(&self) -> &Arc<RouteSettings> {
        &self.inner.settings
    }

    pub(crate) fn lend_head(&self) -> Box<Head> {
        self.spares().pop().unwrap_or_default()
    }

    pub(crate) fn give_head(&self, mut head: Box<Head>) {
        head.clear();
        head.trim(SPARE_HEAD_BYTES);
        let mut spares = self.spares();
        if spares.len() < SPARES_MAX {
            spares.push(head);
        }
    }

    pub(crate) fn lend_hole_values(&self) -> Box<HoleValues> {
        self.hole_values().pop().unwrap_or_default()
    }

    pub(crate) fn give_hole_values(&self, mut values: Box<HoleValues>) {
        values.clear();
        let mut kept = self.hole_values();
        if kept.len() < SPARES_MAX {
            kept.push(values);
        }
    }

    #[expect(clippy::vec_box)]
    fn hole_values(&self) -> MutexGuard<'_, Vec<Box<HoleValues>>> {
        self.inner.hole_values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::vec_box)]
    fn spares(&self) -> MutexGuard<'_, Vec<Box<Head>>> {
        self.inner.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientBuilder {
    /// Builds the client.
    ///
    /// # Errors
    /// A [field](Self::header) or [credentials](Self::basic_auth) are not valid, or a proxy that the
    /// environment names cannot be used. That there is no root to trust is told by the first call over TLS.
    pub fn build(self) -> Result<Client, Error> {
        self.settled().map(Client::with)
    }
}

impl fmt::Debug for Client {
    /// Shows the fields that are sent with every call, the proxies, the deadline and the limits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings().show(f.debug_struct("Client"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the path of a URL, and whether it lies in the memory of the URL.
    fn located(client: &Client, url: &str) -> (String, bool) {
        let url = url.to_owned();
        let memory = url.as_ptr();
        let (_, path) = client.locate(Cow::Owned(url)).unwrap();
        (path.as_str().to_owned(), matches!(&path, Path::Owned(path) if path.as_ptr() == memory))
    }

    #[test]
    fn a_url_that_is_handed_over_is_not_copied() {
        let client = Client::new().unwrap();
        assert_eq!(located(&client, "http://a.example/x"), ("/x".to_owned(), false), "it is parsed");
        assert_eq!(located(&client, "http://a.example/y?z"), ("/y?z".to_owned(), true));
        assert_eq!(located(&client, "http://a.example"), ("/".to_owned(), false));
        assert_eq!(located(&client, "http://a.example/../b"), ("/b".to_owned(), false));
    }

    #[test]
    fn a_path_is_changed_where_it_is() {
        let mut path = Path::Given("/a");
        path.change(|text| text.push_str("?b"));
        path.change(|text| text.push_str("&c"));
        assert_eq!(path.as_str(), "/a?b&c");
        path.replace(Cow::Borrowed("/d"));
        assert!(matches!(path, Path::Given("/d")));
    }
}
