//! The file server: the files of a folder, as they are held between requests.
//!
//! A request is either answered from what is held ([`cache`]), without leaving its thread or allocating, or
//! looked up by threads that may block ([`Site::look`]). A cached entry is believed for a second; then one
//! request has its file checked while the others that want it wait. The same holds for files that are not
//! cached yet ([`flights`]). What the system knows to be nothing without waiting costs no thread.
//!
//! The page of a folder is held like a small file. Its version is its content: after a second the folder is
//! listed and the page made again, and if it is the same, the one that is held stays. A page is therefore a
//! second old at most, and answers that are sent slowly share the pages of as many versions as they were
//! begun with.
//!
//! All that is held is charged to the memory of all connections, and answered 503 when there is no room.

mod cache;
mod coding;
mod entry;
mod flights;
mod listing;
mod open_files;
mod page;
mod root;
mod send;
pub(super) mod target;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use alula_fields::{FieldSection, KnownName, Status, parameters};
use alula_machine::Reservation;
use alula_net::{Error, Sent};
use cap_std::fs::Dir;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use tokio::sync::Semaphore;

use self::{
    cache::Cache,
    entry::{Entry, LoadOptions, charge},
    flights::Flights,
    listing::{Place, list},
    open_files::OpenFiles,
    page::PAGE_BYTES_MAX,
    root::{Kind, Root, kind_of},
    target::{Rules, Target},
};
use super::cached::on_blocking_thread;
use crate::{answer::Answer, exchange::Exchange, observe::reporting::Gate, route::Segments};

/// Pages that are made at once: each takes some times its size meanwhile, and a thread for as long as the
/// folder is large.
const PAGES_AT_ONCE: usize = 2;

/// Bounds how often peers can have told of files that cannot be read.
static UNREADABLE: Gate = Gate::new();

/// The choices about what of a folder is served, and in which way.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The name of the file that answers for its folder.
    pub(super) index: Cow<'static, str>,
    /// A folder without an index is answered with a list.
    pub(super) lists: bool,
    /// More HTML at the end of each list.
    pub(super) list_footer: Cow<'static, str>,
    /// The index of the folder stands for pages that are not there.
    pub(super) is_spa: bool,
    /// The path of the page of 404.
    pub(super) not_found: Option<Cow<'static, str>>,
    /// Files may be beside others with their content compressed.
    pub(super) has_variants: bool,
    /// Names that begin with a dot are served.
    pub(super) shows_hidden: bool,
    /// The time for which what is held is believed without looking.
    pub(super) fresh_for: Duration,
}

/// The served folder, its settings and its caches.
pub(super) struct Site {
    path: PathBuf,
    root: OnceLock<Root>,
    settings: Settings,
    cache: Cache,
    flights: Flights<Found>,
    open_files: OpenFiles,
    pages_at_once: Arc<Semaphore>,
}

/// The result of looking a path up.
#[derive(Clone)]
enum Found {
    /// A file, or the page of a folder.
    File(Arc<Entry>),
    /// A folder without an index.
    Folder,
    /// A folder that was asked for like a file.
    Elsewhere,
    /// A failure with this status.
    Nothing(Status),
    /// A file or folder that this program may not read, and how the system says it.
    Unreadable(Arc<str>),
}

/// The state of a path before a file is stored there.
pub(super) enum State {
    File(Arc<Entry>),
    Nothing,
    /// A folder.
    Other,
    /// It could not be found out, and this is the status.
    Failed(Status),
}

/// Answers one request. A fresh cached entry is sent from here; all else has a box of its own, so that no
/// other request carries the room for it about.
pub(super) async fn answer<S>(site: Arc<Site>, exchange: Exchange<S>) -> Result<Sent, Answer> {
    match site.fresh(&exchange) {
        Some(entry) => Ok(send::file(exchange, &entry).await?),
        None => Box::pin(site.respond(exchange)).await,
    }
}

impl Site {
    pub(super) fn new(path: PathBuf, settings: Settings) -> Self {
        Self {
            path,
            root: OnceLock::new(),
            cache: Cache::new(settings.fresh_for),
            settings,
            flights: Flights::default(),
            open_files: OpenFiles::default(),
            pages_at_once: Arc::new(Semaphore::new(PAGES_AT_ONCE)),
        }
    }

    /// Opens the folder, unless it is open. May block.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub(super) fn open(&self) -> io::Result<()> {
        self.root().map(drop)
    }

    /// Returns the folder, opened at the first call. May block.
    fn root(&self) -> io::Result<&Root> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        let root = Root::open(&self.path)?;
        Ok(self.root.get_or_init(|| root))
    }

    /// Returns the rules for paths that a router cuts so.
    pub(super) fn rules(&self, segments: Segments) -> Rules {
        Rules { shows_hidden: self.settings.shows_hidden, skips_empty: segments.skips_empty() }
    }

    /// Returns the cached entry of the requested file, if it was checked lately.
    fn fresh<S>(&self, exchange: &Exchange<S>) -> Option<Arc<Entry>> {
        let request = exchange.request();
        if !is_read(request.method()) {
            return None;
        }
        let entry = self.cache.find(exchange.last_capture()?.0).filter(|entry| self.cache.is_fresh(entry))?;
        // A query may ask for another part of a list.
        (!entry.is_page || request.query().is_none()).then_some(entry)
    }

    async fn respond<S>(self: &Arc<Self>, exchange: Exchange<S>) -> Result<Sent, Answer> {
        let request = exchange.request();
        if !is_read(request.method()) {
            return Err(Answer::new(Status::METHOD_NOT_ALLOWED).header(KnownName::ALLOW, "GET, HEAD"));
        }
        let (path, segments) = exchange.last_capture().ok_or(Status::NOT_FOUND)?;
        let (path, rules) = (path.to_owned(), self.rules(segments));
        let after = request.query().and_then(Place::of_query);
        let mut found = self.find(&path, rules, exchange.reserve(0)).await;
        let is_list = match &found {
            Found::Folder => true,
            Found::File(entry) => entry.is_page && after.is_some(),
            _ => false,
        };
        if is_list && self.settings.lists {
            found = self.list(&path, rules, after, exchange.reserve(0)).await;
        }
        match found {
            Found::File(entry) => Ok(send::file(exchange, &entry).await?),
            Found::Elsewhere => Err(send::redirect(exchange.request().path())),
            Found::Nothing(Status::SERVICE_UNAVAILABLE) => Err(send::busy()),
            Found::Nothing(Status::NOT_FOUND) | Found::Folder => {
                self.respond_without(exchange, &path, rules).await
            }
            Found::Nothing(status) => Err(status.into()),
            Found::Unreadable(sentence) => Err(forbidden(&sentence)),
        }
    }

    /// Answers a request for what is not there: with the page of a program, with that of 404, or without any.
    async fn respond_without<S>(
        self: &Arc<Self>,
        exchange: Exchange<S>,
        path: &str,
        rules: Rules,
    ) -> Result<Sent, Answer> {
        let is_of_page = self.settings.is_spa && is_of_page(path, rules);
        let takes_html =
            |fields: &FieldSection| parameters::accepts(fields.get_all(KnownName::ACCEPT), "text/html");
        if is_of_page && takes_html(exchange.request().headers()) {
            let page = self.find(&self.settings.index, rules, exchange.reserve(0)).await;
            if let Found::File(page) = page {
                return Ok(send::file(exchange, &page).await?);
            }
        }
        if let Some(name) = &self.settings.not_found {
            let page = self.find(name, rules, exchange.reserve(0)).await;
            if let Found::File(page) = page {
                return Ok(send::not_found_page(exchange, &page).await?);
            }
        }
        let nothing = Answer::new(Status::NOT_FOUND);
        // Another request may get the page.
        Err(if is_of_page { nothing.header(KnownName::VARY, "accept") } else { nothing })
    }

    /// Looks the path of a request up, however it is spelled; what is loaded for it is charged to `room`.
    async fn find(self: &Arc<Self>, path: &str, rules: Rules, room: Option<Reservation>) -> Found {
        let Some(target) = Target::parse(path, rules) else {
            return Found::Nothing(Status::NOT_FOUND);
        };
        let key = target.key(path);
        let found = match (self.held(&key).await, room) {
            (Some(entry), _) => Found::File(entry),
            (None, Some(room)) => self.flights.share(&key, self.look_up(&key, &target, room)).await,
            (None, None) => Found::Nothing(Status::SERVICE_UNAVAILABLE),
        };
        if let (Found::File(entry), Cow::Owned(_)) = (&found, &key) {
            // Asked for in the same spelling again it is found at once.
            self.cache.insert(path, entry);
        }
        found
    }

    /// Returns the cached entry of the path, if it is unchanged. Of several requests at once, one checks
    /// and the others wait.
    async fn held(self: &Arc<Self>, path: &str) -> Option<Arc<Entry>> {
        let entry = self.cache.find_lent(path)?;
        let gate = entry.gate.lock().await;
        // The request that held the gate has checked already, or has dropped the entry.
        let held = self.cache.find_lent(path)?;
        if self.cache.is_fresh(&held) {
            return Some(held);
        }
        if held.is_page {
            // To be made again, and held against this one.
            return None;
        }
        if self.look_again(&held).await {
            return Some(held);
        }
        drop(gate);
        self.cache.remove(path, &held);
        None
    }

    /// Returns true if the file is what it was when this was made of it.
    async fn look_again(self: &Arc<Self>, entry: &Arc<Entry>) -> bool {
        let (clock, has_variants) = (self.cache.clock(), self.settings.has_variants);
        let root = self.root.get();
        let probed = root.and_then(|root| entry.is_unchanged(has_variants, |path| root.probe(path)));
        let is_good = match probed {
            Some(is_good) => is_good,
            None => {
                let (site, entry) = (Arc::clone(self), Arc::clone(entry));
                let checked = on_blocking_thread(move || {
                    let root = site.root()?;
                    Ok(entry.is_unchanged(has_variants, |path| Some(root.stamp(path))))
                });
                checked.await.ok().flatten().unwrap_or_default()
            }
        };
        if is_good {
            entry.set_checked(clock);
        }
        is_good
    }

    /// Has the path looked at by threads that may block, unless the system knows that there is nothing.
    async fn look_up(self: &Arc<Self>, key: &str, target: &Target, room: Reservation) -> Found {
        let probed = self.root.get().and_then(|root| root.probe(&target.path));
        let found = match probed.filter(|_| !target.path.as_os_str().is_empty()) {
            Some(Err(error)) => absent(&target.path, &error),
            _ => {
                let (site, own_key, own) = (Arc::clone(self), key.to_owned(), target.clone());
                let looked = on_blocking_thread(move || site.look(&own_key, &own, room)).await;
                looked.unwrap_or_else(|error| absent(&target.path, &error))
            }
        };
        // The path was held and leads to no file any more.
        let is_gone = !matches!(found, Found::File(_) | Found::Folder);
        if let (true, Some(gone)) = (is_gone, self.cache.find_lent(key)) {
            self.cache.remove(key, &gone);
        }
        found
    }

    /// Looks the path up on disk. May block.
    fn look(&self, key: &str, target: &Target, room: Reservation) -> io::Result<Found> {
        let kind = kind_of(&self.root()?.metadata(&target.path)?)?;
        match (kind, target.is_folder) {
            (Kind::File, false) => self.load(key, target.path.clone(), room),
            (Kind::Folder, false) => Ok(Found::Elsewhere),
            (Kind::Folder, true) => match self.load(key, target.path.join(&*self.settings.index), room) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Folder),
                found => found,
            },
            // A file under a name with a slash would break the relative references in it.
            (Kind::File, true) => Ok(Found::Nothing(Status::NOT_FOUND)),
        }
    }

    /// Loads a file, which is held from now on.
    fn load(&self, key: &str, path: PathBuf, room: Reservation) -> io::Result<Found> {
        let clock = self.cache.clock();
        let settings = &self.settings;
        let options = LoadOptions {
            has_variants: settings.has_variants,
            // It stands for paths that are nothing to those who take no HTML.
            varies_by_accept: settings.is_spa && path == Path::new(&*settings.index),
        };
        let entry = Entry::load(self.root()?, &self.open_files, path, options, room)?;
        Ok(self.hold(key, entry, clock))
    }

    /// Returns the page of what is in a folder, behind a place or from the beginning.
    async fn list(
        self: &Arc<Self>,
        path: &str,
        rules: Rules,
        after: Option<Place>,
        room: Option<Reservation>,
    ) -> Found {
        let (Some(target), Some(room)) = (Target::parse(path, rules), room) else {
            return Found::Nothing(Status::SERVICE_UNAVAILABLE);
        };
        // No path of a request has a NUL in it: such a key names no file.
        let key = match &after {
            Some(Place { is_file, name }) => {
                let name = percent_encode(name.as_encoded_bytes(), NON_ALPHANUMERIC);
                format!("{}\0{is_file}{name}", target.key(path))
            }
            None => target.key(path).into_owned(),
        };
        let shown = async {
            let Ok(turn) = Arc::clone(&self.pages_at_once).acquire_owned().await else {
                // None closes it.
                return Found::Nothing(Status::SERVICE_UNAVAILABLE);
            };
            let (site, own_key, own) = (Arc::clone(self), key.clone(), target.clone());
            let shown = on_blocking_thread(move || {
                // A request that is given up leaves its page to be made all the same: only then is there room
                // for another.
                let _turn = turn;
                site.show(&own_key, &own, after.as_ref(), room)
            });
            shown.await.unwrap_or_else(|error| absent(&target.path, &error))
        };
        self.flights.share(&key, shown).await
    }

    /// Makes a page of what is in the folder. Returns the one that is held if it is the same, else a new one,
    /// held from now on.
    fn show(
        &self,
        key: &str,
        target: &Target,
        after: Option<&Place>,
        mut room: Reservation,
    ) -> io::Result<Found> {
        let clock = self.cache.clock();
        charge(&mut room, PAGE_BYTES_MAX as u64)?;
        let listing = list(self.root()?, &target.path, self.settings.shows_hidden, after)?;
        let page = page::render(&target.path, &listing, &self.settings.list_footer);
        if let Some(same) = self.cache.find_lent(key).filter(|entry| entry.is_same_page(&page)) {
            same.set_checked(clock);
            self.cache.insert(key, &same);
            return Ok(Found::File(same));
        }
        Ok(self.hold(key, Entry::of_page(target.path.clone(), page, room)?, clock))
    }

    fn hold(&self, key: &str, entry: Entry, clock: Duration) -> Found {
        let entry = Arc::new(entry);
        entry.set_checked(clock);
        self.cache.insert(key, &entry);
        Found::File(entry)
    }

    /// Returns the state of a path; what is loaded for it is charged to `room`.
    pub(super) async fn state(
        self: &Arc<Self>,
        path: &str,
        rules: Rules,
        room: Option<Reservation>,
    ) -> State {
        match self.find(path, rules, room).await {
            Found::File(entry) if !entry.is_page => State::File(entry),
            Found::File(_) | Found::Folder | Found::Elsewhere => State::Other,
            Found::Nothing(Status::NOT_FOUND) => State::Nothing,
            Found::Nothing(status) => State::Failed(status),
            Found::Unreadable(_) => State::Failed(Status::FORBIDDEN),
        }
    }

    /// Opens a folder within, for files to come.
    ///
    /// # Errors
    /// It names nothing, something else, or something outside.
    pub(super) async fn open_folder(self: &Arc<Self>, path: &Path) -> io::Result<Dir> {
        let (site, path) = (Arc::clone(self), path.to_owned());
        on_blocking_thread(move || site.root()?.open_folder(&path)).await
    }

    /// Lets go of what is held of a path that has changed, and of the page of its folder.
    pub(super) fn forget(&self, path: &str, rules: Rules) {
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        for path in [path, folder] {
            let key = Target::parse(path, rules).map(|target| target.key(path));
            for key in [Some(path), key.as_deref()].into_iter().flatten() {
                if let Some(entry) = self.cache.find_lent(key) {
                    self.cache.remove(key, &entry);
                }
            }
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Returns true if the page of a program may stand for a path: nothing in it is refused or hidden, and its
/// last segment has no dot. A script or picture that is missing stays missing: a page in its place would be
/// an error that is hard to find.
fn is_of_page(path: &str, rules: Rules) -> bool {
    let Some(target) = Target::parse(path, rules) else { return false };
    !target.path.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'.'))
}

fn is_read(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// Returns the result for a path that cannot be served: what is not there and what is elsewhere look the same
/// from outside.
fn absent(path: &Path, error: &io::Error) -> Found {
    match error.kind() {
        _ if is_out_of_descriptors(error) => Found::Nothing(Status::SERVICE_UNAVAILABLE),
        io::ErrorKind::QuotaExceeded | io::ErrorKind::OutOfMemory => {
            Found::Nothing(Status::SERVICE_UNAVAILABLE)
        }
        // A link that leads out of the folder is refused without a number of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_some() => {
            Found::Unreadable(format!("{}: {error}", path.display()).into())
        }
        _ => Found::Nothing(Status::NOT_FOUND),
    }
}

/// Answers 403, which tells of the file unless that was told too often.
fn forbidden(sentence: &str) -> Answer {
    let answer = Answer::new(Status::FORBIDDEN);
    match UNREADABLE.lets_pass() {
        Some(0) => answer.because(Error::other(sentence)),
        Some(left_out) => {
            answer.because(Error::other(format!("{sentence} ({left_out} more files could not be read)")))
        }
        None => answer,
    }
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(not(unix))]
fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}
