//! A folder as a handler: the path of a request names a file in it.

use std::{
    borrow::Cow,
    fmt, io,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{
    site::{Settings, Site, answer},
    upload::Uploads,
};
use crate::{connection::handler::Handler, exchange::Exchange};

/// The files of a folder as answers to GET and HEAD: a [handler](Self::handler) for a route that ends in a
/// capture, such as `/static/{*path}`.
///
/// The last capture of the route names the file; without routes the whole path does. The answer follows the
/// request's conditions and range as [`Reply::file`](crate::Reply::file) has it. `index.html` answers for a
/// folder, whose path without the slash at its end is redirected to the one with it (308).
///
/// All else is 404: names that begin with a dot but for `.well-known` (RFC 8615), names with a slash,
/// backslash or NUL in them, dot segments, and empty segments unless the router
/// [skips](crate::EmptySegments::Drop) them. Links are followed within the folder; one that is absolute or
/// leads out of it is 404, and so are fifos, sockets and devices. A file that this program may not read is
/// 403, and [`on_error`](crate::ServerBuilder::on_error) hears of it, at most ten times at once and once per
/// second.
///
/// Files of at most 64 KiB are held in memory, descriptors of larger ones open, 64 MiB in all, of which a
/// descriptor counts for 512 KiB; the least asked for go first. What is held is believed for
/// [a second](Self::fresh_for); then one request looks whether it has changed while others wait. At most 512
/// files are open at once; further ones are answered 503, and so is what finds no room in the memory of all
/// connections. A held file is sent without an allocation. Clones share all this.
///
/// ```
/// use alula::{Router, files::Folder, routing::get};
///
/// let site = Folder::new("site").precompressed().not_found("404.html");
/// let router = Router::<()>::new().route("/{*path}", get(site.handler()));
/// # router.build().unwrap();
/// ```
#[doc(alias("ServeDir", "StaticFiles", "Files"))]
#[derive(Clone)]
pub struct Folder {
    path: PathBuf,
    settings: Settings,
    /// Made for the first handler.
    site: Arc<OnceLock<Arc<Site>>>,
}

impl Folder {
    /// Names the folder. Nothing is looked at before a request; a relative path counts from the working
    /// directory. It is opened once: a folder that is put in its place later is not noticed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let settings = Settings {
            index: Cow::Borrowed("index.html"),
            lists: false,
            list_footer: Cow::Borrowed(""),
            is_spa: false,
            not_found: None,
            has_variants: false,
            shows_hidden: false,
            fresh_for: Duration::from_secs(1),
        };
        Self { path: path.into(), settings, site: Arc::default() }
    }

    /// Names the file that answers for a folder, `index.html` unless it is named.
    #[must_use]
    pub fn index(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(|settings| settings.index = name.into())
    }

    /// Answers for a folder that has no index with a page of its entries: folders first, each with size and
    /// time.
    ///
    /// A page has at most 10,000 entries and 4 MiB, and a link to the next one. All names of the folder are
    /// looked through for each, by two threads at most, once a second for all who ask.
    #[doc(alias("autoindex", "browse"))]
    #[must_use]
    pub fn listing(self) -> Self {
        self.with(|settings| settings.lists = true)
    }

    /// Adds HTML at the end of each [listing](Self::listing), such as a form.
    #[must_use]
    pub fn listing_footer(self, html: impl Into<Cow<'static, str>>) -> Self {
        self.with(|settings| settings.list_footer = html.into())
    }

    /// Answers with the index of the folder, and 200, where nothing is: for programs in one page, which
    /// choose the view by the path.
    ///
    /// It stands for paths without a dot in the last segment, for requests that accept HTML. A script that is
    /// missing stays 404.
    #[doc(alias("fallback", "try_files", "single"))]
    #[must_use]
    pub fn spa(self) -> Self {
        self.with(|settings| settings.is_spa = true)
    }

    /// Answers 404 with the content of this file of the folder, such as `404.html`, if it is there.
    #[doc(alias("error_page", "not_found_service"))]
    #[must_use]
    pub fn not_found(self, path: impl Into<Cow<'static, str>>) -> Self {
        self.with(|settings| settings.not_found = Some(path.into()))
    }

    /// Sends `a.js.br`, `a.js.zst` or `a.js.gz` for `a.js`, if it is there and the request's
    /// `accept-encoding` takes it: of those that it likes equally, in this order.
    ///
    /// The files must have the same content; nothing is compressed or unpacked here. Answers for a file that
    /// has others beside it have `vary: accept-encoding`. Ranges count in what is sent.
    #[doc(alias("gzip_static", "precompressed_gzip"))]
    #[must_use]
    pub fn precompressed(self) -> Self {
        self.with(|settings| settings.has_variants = true)
    }

    /// Serves and lists names that begin with a dot too, but for those of files that are
    /// being stored.
    #[must_use]
    pub fn show_hidden(self) -> Self {
        self.with(|settings| settings.shows_hidden = true)
    }

    /// Sets the time for which what is held is believed without looking whether it has changed, 1 s unless it
    /// is set. A file that was changed within the last three seconds is read again then.
    #[must_use]
    pub fn fresh_for(self, time: Duration) -> Self {
        self.with(|settings| settings.fresh_for = time)
    }

    /// Opens the folder now rather than at the first request, to find out whether it is one. May block.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub fn open(&self) -> io::Result<()> {
        self.site().open()
    }

    /// Returns the handler, for `get`, for a fallback, or for a server without routes. It answers 405 to
    /// other methods than GET and HEAD.
    pub fn handler<S: Send + Sync + 'static>(&self) -> impl Handler<S> + Clone + use<S> {
        let site = self.site();
        move |exchange: Exchange<S>| answer(Arc::clone(&site), exchange)
    }

    /// Returns handlers that store files in the folder.
    pub fn uploads(&self) -> Uploads {
        Uploads::new(self.site())
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        // What was made for a clone stays as it is.
        self.site = Arc::default();
        self
    }

    /// Returns the server of the folder, which all handlers and clones share.
    pub(super) fn site(&self) -> Arc<Site> {
        let site = self.site.get_or_init(|| Arc::new(Site::new(self.path.clone(), self.settings.clone())));
        Arc::clone(site)
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("path", &self.path).field("settings", &self.settings).finish()
    }
}
