//! `alula serve`: the files of a folder.
//!
//! A request is either answered from what is held ([`cache`]), without leaving its thread or allocating, or
//! looked up by the threads for blocking work ([`look`](Site::look)). A cached entry is believed for a
//! second; then one request has its file checked while the others that want it wait. The same holds for
//! files that are not cached yet ([`flights`]).
//!
//! The page of a folder is held like a small file. Its version is its content: after a second the folder is
//! listed and the page made again, and if it is the same, the one that is held stays. A page is therefore a
//! second old at most, and answers that are sent slowly share the pages of as many versions as they were
//! begun with.
//!
//! All that is held is charged to the memory of all connections (`Ledger::reserve`), and answered 503 when
//! there is no room.

mod advice;
mod cache;
mod entry;
mod flights;
mod folder;
mod form;
mod incoming;
mod open_files;
mod page;
mod places;
mod send;
mod spa;
mod target;
mod upload;

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use alula::{Error, Exchange, KnownName, Ledger, OriginGuard, Request, Sent, Status, files::FileBuffers};
use tokio::sync::Semaphore;

use crate::{
    args::{ANY, ServeArgs},
    failure::exit::Outcome,
    hooks::{self, Lines, LogLine},
    listening::{self, Bound, ListenOptions, Service},
};
use cache::Cache;
use entry::Entry;
use flights::Flights;
use folder::{Folder, INDEX, Kind};
use open_files::OpenFiles;
use page::PAGE_BYTES_MAX;
use places::Places;
use target::Target;
use upload::UploadTerms;

/// The methods of every target (RFC 9110 §10.2.1), without `--upload` and with it.
const ALLOW: &str = "GET, HEAD, OPTIONS";
const ALLOW_UPLOAD: &str = "GET, HEAD, OPTIONS, POST, PUT";
/// The time for which what is held is believed without looking.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// Pages that are made at once: each takes some times its size meanwhile, and a thread for as long as the
/// folder is large.
const PAGES_AT_ONCE: usize = 2;
/// Files that are being uploaded at once: each has a descriptor.
const UPLOADS_AT_ONCE: usize = 64;

/// Serves until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Outcome {
    let folder =
        Folder::open(&args.folder, args.dot_files).map_err(|error| advice::no_folder(args, &error))?;
    let (mut router, mut watching) = hooks::router(&args.watch)?;
    advice::tell(args);
    // The writer goes last, when every request has been written down.
    let (lines, _writer) = args.log.then(Lines::to_stderr).unzip();
    if let Some(lines) = lines {
        watching.tell_in(&lines);
        router = router.hook(LogLine(lines));
    }
    let upload = args.upload.then_some(UploadTerms { overwrites: args.overwrite, bytes_max: args.max_body });
    let choices = Choices { has_listing: !args.no_listing, is_spa: args.spa, fresh_for: FRESH_FOR, upload };
    // A file is read on a thread, which a client that closes its side and reads on waits for all the same.
    // One that has left altogether is found by the next write.
    let terms = ListenOptions { half_close: true, ..ListenOptions::usual(&watching) };
    listening::run(&args.listen, terms, async |bound: Bound| {
        let is_judged = args.hosts.are_judged(args.upload, bound.address.ip());
        let guard = if is_judged { args.hosts.added_to(page_guard(args)) } else { page_guard(args) };
        if is_judged || args.upload {
            router = router.hook(guard);
        }
        let site = Arc::new(Site::new(folder, choices, bound.ledger));
        let routes = hooks::handled(router, move |exchange| answer(Arc::clone(&site), exchange))?;
        Ok(Service { routes, hint: String::new() })
    })
}

/// Returns what judges the pages that store files: those of the origins that are named may. A page of anybody
/// could send a form, for which the browser asks nobody before; and `--cors` without a name is for those who
/// read.
fn page_guard(args: &ServeArgs) -> OriginGuard {
    let named = args.watch.cors.iter().filter(|origin| *origin != ANY);
    named.fold(OriginGuard::new(), OriginGuard::trust)
}

/// The choices about what of a folder is served, and in which way.
#[derive(Clone, Copy)]
struct Choices {
    /// A folder without an index is answered with a list.
    has_listing: bool,
    /// The index stands for pages that are not there.
    is_spa: bool,
    /// The time for which what is held is believed without looking.
    fresh_for: Duration,
    /// Files may be stored, on these terms.
    upload: Option<UploadTerms>,
}

/// The served folder, its settings and its caches.
struct Site {
    folder: Folder,
    choices: Choices,
    cache: Cache,
    flights: Flights<Found>,
    open_files: OpenFiles,
    buffers: FileBuffers,
    pages_at_once: Semaphore,
    upload_places: Places,
    ledger: Arc<Ledger>,
}

/// The result of looking a path up.
#[derive(Clone)]
enum Found {
    /// A file, or the page of a folder.
    File(Arc<Entry>),
    /// A folder whose page is to be made.
    Folder,
    /// A folder that was asked for like a file.
    Elsewhere,
    /// A failure with this status.
    Nothing(Status),
}

/// Answers one request.
///
/// A fresh cached entry is sent from here. All else has a box of its own, so that no other request carries
/// the room for it about.
async fn answer(site: Arc<Site>, exchange: Exchange) -> Result<Sent, Error> {
    match site.fresh(exchange.request()) {
        Some(entry) => match send::at_once(exchange, &entry) {
            Ok((reply, content)) => reply.send(content).await,
            Err(exchange) => Box::pin(send::by_parts(&site, exchange, &entry)).await,
        },
        None => Box::pin(site.respond(exchange)).await,
    }
}

impl Site {
    fn new(folder: Folder, choices: Choices, ledger: Arc<Ledger>) -> Self {
        Self {
            folder,
            choices,
            cache: Cache::new(choices.fresh_for),
            flights: Flights::default(),
            open_files: OpenFiles::default(),
            buffers: FileBuffers::new(&ledger),
            pages_at_once: Semaphore::new(PAGES_AT_ONCE),
            upload_places: Places::new(UPLOADS_AT_ONCE),
            ledger,
        }
    }

    /// Returns the cached entry of the requested file, if it was checked lately.
    fn fresh(&self, request: &Request) -> Option<Arc<Entry>> {
        if !matches!(request.method(), "GET" | "HEAD") {
            return None;
        }
        self.cache.find(target::without_query(request.path())).filter(|entry| self.cache.is_fresh(entry))
    }

    async fn respond(self: &Arc<Self>, exchange: Exchange) -> Result<Sent, Error> {
        match (exchange.request().method(), self.choices.upload) {
            ("GET" | "HEAD", _) => {}
            ("OPTIONS", _) => return send::options(exchange, self.allow()).await,
            ("PUT", Some(terms)) => return upload::put(self, exchange, terms).await,
            ("POST", Some(terms)) => return upload::form(self, exchange, terms).await,
            _ => return send::not_allowed(exchange, self.allow()).await,
        }
        let path = target::without_query(exchange.request().path());
        match self.find(path).await {
            Found::File(entry) => send::file(self, exchange, &entry).await,
            Found::Elsewhere => send::redirect(exchange).await,
            Found::Nothing(Status::NOT_FOUND) | Found::Folder => self.respond_without(exchange).await,
            Found::Nothing(status) => send::nothing(exchange, status).await,
        }
    }

    /// The methods of every target.
    fn allow(&self) -> &'static str {
        if self.choices.upload.is_some() { ALLOW_UPLOAD } else { ALLOW }
    }

    /// Lets go of what is held of a path, which has changed.
    fn forget(&self, key: &str) {
        if let Some(entry) = self.cache.find_lent(key) {
            self.cache.remove(key, &entry);
        }
    }

    /// Answers a request for what is not there.
    async fn respond_without(self: &Arc<Self>, exchange: Exchange) -> Result<Sent, Error> {
        let request = exchange.request();
        if !self.choices.is_spa || !spa::is_of_page(request, self.folder.shows_dot_files()) {
            return send::nothing(exchange, Status::NOT_FOUND).await;
        }
        match self.find(spa::PAGE).await {
            Found::File(page) if spa::takes_html(request.headers()) => {
                send::file(self, exchange, &page).await
            }
            _ => send::nothing_of_page(exchange).await,
        }
    }

    /// Looks the path of a request up, however it is spelled.
    async fn find(self: &Arc<Self>, path: &str) -> Found {
        let Some(target) = Target::parse(path, self.folder.shows_dot_files()) else {
            return Found::Nothing(Status::NOT_FOUND);
        };
        let key = target.key(path);
        let found = match self.held(&key).await {
            Some(entry) => Found::File(entry),
            None => self.flights.share(&key, self.look_up(&key, &target)).await,
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
        let (site, looked_at) = (Arc::clone(self), Arc::clone(entry));
        let clock = self.cache.clock();
        let stamp = tokio::task::spawn_blocking(move || site.folder.stamp(&looked_at.path));
        let is_good = matches!(stamp.await, Ok(Ok(stamp)) if entry.is_good_for(&stamp));
        if is_good {
            entry.set_checked(clock);
        }
        is_good
    }

    /// Has the path looked at by threads that may block.
    async fn look_up(self: &Arc<Self>, key: &str, target: &Target) -> Found {
        let mut found = self.blocking(key, target, Self::look).await;
        if matches!(found, Found::Folder) {
            // None closes it.
            let _turn = self.pages_at_once.acquire().await;
            found = self.blocking(key, target, Self::show).await;
        }
        // The path was held and leads to no file any more.
        if let (false, Some(gone)) = (matches!(found, Found::File(_)), self.cache.find_lent(key)) {
            self.cache.remove(key, &gone);
        }
        found
    }

    async fn blocking(
        self: &Arc<Self>,
        key: &str,
        target: &Target,
        look: fn(&Self, &str, &Target) -> io::Result<Found>,
    ) -> Found {
        let (site, key, target) = (Arc::clone(self), key.to_owned(), target.clone());
        let looked = tokio::task::spawn_blocking(move || look(&site, &key, &target));
        let found = looked.await.unwrap_or(Ok(Found::Nothing(Status::INTERNAL_SERVER_ERROR)));
        found.unwrap_or_else(|error| absent(&error))
    }

    /// Looks the path up on disk. May block.
    fn look(&self, key: &str, target: &Target) -> io::Result<Found> {
        match (self.folder.kind(&target.path)?, target.is_folder) {
            (Kind::File, false) => self.load(key, target.path.clone()),
            (Kind::Folder, false) => Ok(Found::Elsewhere),
            (Kind::Folder, true) => match self.load(key, target.path.join(INDEX)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.choices.has_listing => {
                    Ok(Found::Folder)
                }
                found => found,
            },
            // A file under a name with a slash would break the relative references in it.
            (Kind::File, true) => Ok(Found::Nothing(Status::NOT_FOUND)),
        }
    }

    /// The file, held from now on.
    fn load(&self, key: &str, path: PathBuf) -> io::Result<Found> {
        let clock = self.cache.clock();
        let mut entry = Entry::load(&self.folder, &self.open_files, path, &self.ledger)?;
        if self.choices.is_spa && entry.path == Path::new(INDEX) {
            // It stands for paths that are nothing to those who take no HTML.
            entry.fields.append(KnownName::VARY, send::VARY).map_err(io::Error::other)?;
        }
        Ok(self.hold(key, entry, clock))
    }

    /// A page of what is in the folder: the one that is held if it would be the same, else a new one, held
    /// from now on.
    fn show(&self, key: &str, target: &Target) -> io::Result<Found> {
        let clock = self.cache.clock();
        let held = entry::reserve(&self.ledger, PAGE_BYTES_MAX as u64)?;
        let (listed, is_cut) = self.folder.list(&target.path)?;
        let page = page::render(&target.path, &listed, is_cut, self.choices.upload.is_some());
        if let Some(same) = self.cache.find_lent(key).filter(|entry| entry.is_same_page(&page)) {
            same.set_checked(clock);
            self.cache.insert(key, &same);
            return Ok(Found::File(same));
        }
        Ok(self.hold(key, Entry::of_page(target.path.clone(), page, held)?, clock))
    }

    fn hold(&self, key: &str, entry: Entry, clock: Duration) -> Found {
        let entry = Arc::new(entry);
        entry.set_checked(clock);
        self.cache.insert(key, &entry);
        Found::File(entry)
    }
}

/// The status of a path that cannot be served: what is not there, what may not be had and what is elsewhere
/// look the same from outside.
fn absent(error: &io::Error) -> Found {
    Found::Nothing(match error.kind() {
        _ if is_out_of_descriptors(error) => Status::SERVICE_UNAVAILABLE,
        io::ErrorKind::QuotaExceeded | io::ErrorKind::OutOfMemory => Status::SERVICE_UNAVAILABLE,
        _ => Status::NOT_FOUND,
    })
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

#[cfg(not(unix))]
fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests;
