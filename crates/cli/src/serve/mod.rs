//! `alula serve`: the files of a folder.
//!
//! A request is either answered from what is held ([`cache`]), without leaving its thread or allocating, or looked up
//! by the threads for blocking work ([`look`](Site::look)). What is held is believed for a second; then one request has its
//! file looked at while the others that want it wait.

mod buffers;
mod cache;
mod conditions;
mod entry;
mod folder;
mod log;
mod media_type;
mod open_files;
mod page;
mod range;
mod reader;
mod send;
mod stamp;
mod target;

use std::{io, sync::Arc, time::Duration};

use alula::{Error, Exchange, Request, Sent, Status};

use crate::{
    args::ServeArgs,
    exit::{Failure, Outcome},
    listening,
};
use buffers::Buffers;
use cache::Cache;
use entry::Entry;
use folder::{Folder, Kind};
use log::{Log, Record};
use open_files::OpenFiles;
use target::Target;

/// What a target can be asked (RFC 9110 §10.2.1).
const ALLOW: &str = "GET, HEAD, OPTIONS";
/// What stands for a folder.
const INDEX: &str = "index.html";
/// How long what is held is believed without looking.
const FRESH_FOR: Duration = Duration::from_secs(1);

/// Serves until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Outcome {
    let folder = Folder::open(&args.folder, args.dot_files);
    let folder = folder.map_err(|error| Failure::local(args.folder.display(), &error))?;
    // The writer goes last, when every request has been written down.
    let (log, _writer) = args.log.then(Log::to_stderr).unzip();
    let site = Arc::new(Site::new(folder, !args.no_listing, FRESH_FOR, log));
    listening::run(&args.listen, move |exchange| answer(Arc::clone(&site), exchange))
}

/// What is served, and what is held of it.
struct Site {
    folder: Folder,
    has_listing: bool,
    cache: Cache,
    open_files: OpenFiles,
    buffers: Buffers,
    log: Option<Arc<Log>>,
}

/// What a path leads to.
enum Found {
    /// A file.
    File(Arc<Entry>),
    /// A folder, as a page.
    Page(Vec<u8>),
    /// A folder that was asked for like a file.
    Elsewhere,
    /// Nothing, with this status.
    Nothing(Status),
}

/// Answers one request, and has it written down.
///
/// What is held and fresh is sent from here. All else has a box of its own, so that no other request carries the room for
/// it about.
async fn answer(site: Arc<Site>, exchange: Exchange) -> Result<Sent, Error> {
    let mut record = site.log.as_ref().map_or_else(Record::none, |log| log.begin(&exchange));
    let sent = match site.fresh(exchange.request()) {
        Some(entry) => match send::at_once(exchange, &entry, &mut record) {
            Ok((reply, content)) => reply.send(content).await,
            Err(exchange) => Box::pin(send::by_parts(&site, exchange, &entry, &mut record)).await,
        },
        None => Box::pin(site.respond(exchange, &mut record)).await,
    };
    record.end(sent.is_ok());
    sent
}

impl Site {
    fn new(folder: Folder, has_listing: bool, fresh_for: Duration, log: Option<Arc<Log>>) -> Self {
        let (cache, buffers) = (Cache::new(fresh_for), Buffers::default());
        Self { folder, has_listing, cache, open_files: OpenFiles::default(), buffers, log }
    }

    /// What is held of a file that is asked for, if it was looked at lately.
    fn fresh(&self, request: &Request) -> Option<Arc<Entry>> {
        if !matches!(request.method(), "GET" | "HEAD") {
            return None;
        }
        self.cache.find(target::without_query(request.path())).filter(|entry| self.cache.is_fresh(entry))
    }

    async fn respond(self: &Arc<Self>, exchange: Exchange, record: &mut Record) -> Result<Sent, Error> {
        match exchange.request().method() {
            "GET" | "HEAD" => {}
            "OPTIONS" => return send::options(exchange, record).await,
            _ => return send::not_allowed(exchange, record).await,
        }
        let path = target::without_query(exchange.request().path());
        let found = match self.held(path).await {
            Some(entry) => Found::File(entry),
            None => self.look_up(path).await,
        };
        match found {
            Found::File(entry) => send::file(self, exchange, &entry, record).await,
            Found::Page(page) => send::page(exchange, &page, record).await,
            Found::Elsewhere => send::redirect(exchange, record).await,
            Found::Nothing(status) => send::nothing(exchange, status, record).await,
        }
    }

    /// What is held of the path, if it is as it was. Of several who ask at once, one looks and the others wait.
    async fn held(self: &Arc<Self>, path: &str) -> Option<Arc<Entry>> {
        let entry = self.cache.find(path)?;
        let gate = entry.gate.lock().await;
        // Whoever held the gate has looked already, or has let the entry go.
        let held = self.cache.find(path)?;
        if self.cache.is_fresh(&held) || self.look_again(&held).await {
            return Some(held);
        }
        drop(gate);
        self.cache.remove(path, &held);
        None
    }

    /// Whether the file is what it was when this was made of it.
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

    /// Has the path looked at by a thread that may block.
    async fn look_up(self: &Arc<Self>, path: &str) -> Found {
        let (site, path) = (Arc::clone(self), path.to_owned());
        let found = tokio::task::spawn_blocking(move || site.look(&path));
        found.await.unwrap_or(Found::Nothing(Status::INTERNAL_SERVER_ERROR))
    }

    /// What the path leads to. May block.
    fn look(&self, path: &str) -> Found {
        let Some(target) = Target::parse(path, self.folder.shows_dot_files()) else {
            return Found::Nothing(Status::NOT_FOUND);
        };
        match (self.folder.kind(&target.path), target.is_folder) {
            (Ok(Kind::File), false) => self.load(path, &target).unwrap_or_else(|error| absent(&error)),
            (Ok(Kind::Folder), false) => Found::Elsewhere,
            (Ok(Kind::Folder), true) => self.show(path, target).unwrap_or_else(|error| absent(&error)),
            (Ok(Kind::File), true) => Found::Nothing(Status::NOT_FOUND),
            (Err(error), _) => absent(&error),
        }
    }

    /// The file, held from now on.
    fn load(&self, path: &str, target: &Target) -> io::Result<Found> {
        let clock = self.cache.clock();
        let entry = Arc::new(Entry::load(&self.folder, &self.open_files, target.path.clone())?);
        entry.set_checked(clock);
        self.cache.insert(path, &entry);
        Ok(Found::File(entry))
    }

    /// The folder's index, or else a page of what is in it.
    fn show(&self, path: &str, target: Target) -> io::Result<Found> {
        let index = Target { path: target.path.join(INDEX), is_folder: false };
        match self.load(path, &index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.has_listing => {}
            found => return found,
        }
        let (listed, is_cut) = self.folder.list(&target.path)?;
        Ok(Found::Page(page::render(&target.path, &listed, is_cut)))
    }
}

/// The status of a path that cannot be served: what is not there, what may not be had and what is elsewhere look the
/// same from outside.
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
