//! `--upload`: files that are stored, by PUT under their path and by a form in their folder.
//!
//! Rule 1: a file is stored where it could be served from and nowhere else: its path is read by [`Target`],
//! and its folder opened by
//! [`Folder`](super::folder::Folder).
//! Rule 2: nobody sees a file before it is whole.

use std::{io, path::Path, sync::Arc};

use alula::{
    Body, Error, Exchange, KnownName, Sent, Status,
    conditional::{Validators, Verdict, evaluate},
};
use cap_std::fs::Dir;

use super::{
    Found, Site,
    form::{Event, Form},
    incoming::{Incoming, Placed},
    places::Place,
    send,
    target::{self, Target},
};

/// Parts of a form at most.
const PARTS_MAX: usize = 1000;

/// The reason for a name that is none to a server of files.
const UNFIT: &str = "nothing can be stored under that name";

/// The terms on which files are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct UploadTerms {
    /// Uploaded files replace others.
    pub(super) overwrites: bool,
    /// Bytes of a request's content at most.
    pub(super) bytes_max: u64,
}

/// The reason for which a file is not stored.
enum Fault {
    /// The answer says why.
    Refused(Status, String),
    /// The peer has gone; nobody can be answered.
    Failed(Error),
}

impl Fault {
    fn of(status: Status, sentence: &str) -> Self {
        Self::Refused(status, sentence.to_owned())
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::of(Status::CONFLICT, "there is something of that name"),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::of(Status::CONFLICT, "the folder is not there")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::of(Status::FORBIDDEN, "the folder takes no files")
            }
            io::ErrorKind::InvalidFilename => Self::of(Status::FORBIDDEN, UNFIT),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::of(Status::INSUFFICIENT_STORAGE, "there is no room on the disk")
            }
            _ => Self::of(Status::INTERNAL_SERVER_ERROR, "the file could not be stored"),
        }
    }
}

/// Answers PUT (RFC 9110 §9.3.4): 201 for a new file, 204 for one that takes the place of another.
pub(super) async fn put(site: &Arc<Site>, mut exchange: Exchange, terms: UploadTerms) -> Result<Sent, Error> {
    match store(site, &mut exchange, terms).await {
        Ok(Placed::New) => {
            let location = target::without_query(exchange.request().path()).to_owned();
            let reply = exchange.respond(Status::CREATED).header(KnownName::LOCATION, location);
            reply.send(&[]).await
        }
        Ok(Placed::Replacing) => exchange.respond(Status::NO_CONTENT).send(&[]).await,
        Err(fault) => refuse(exchange, fault).await,
    }
}

/// Answers POST of a form: 303 to the folder, once all of its files are stored.
pub(super) async fn form(
    site: &Arc<Site>,
    mut exchange: Exchange,
    terms: UploadTerms,
) -> Result<Sent, Error> {
    match store_all(site, &mut exchange, terms).await {
        Ok(()) => {
            let location = target::without_query(exchange.request().path()).to_owned();
            let reply = exchange.respond(Status::SEE_OTHER).header(KnownName::LOCATION, location);
            reply.send(&[]).await
        }
        Err(fault) => refuse(exchange, fault).await,
    }
}

async fn refuse(exchange: Exchange, fault: Fault) -> Result<Sent, Error> {
    let (status, sentence) = match fault {
        Fault::Refused(status, sentence) => (status, sentence),
        Fault::Failed(error) => return Err(error),
    };
    let mut reply = exchange.respond(status).header(KnownName::CONTENT_TYPE, send::TEXT);
    if status == Status::SERVICE_UNAVAILABLE {
        reply = reply.header(KnownName::RETRY_AFTER, send::RETRY_AFTER);
    }
    reply.send(format!("{sentence}\n")).await
}

async fn store(site: &Arc<Site>, exchange: &mut Exchange, terms: UploadTerms) -> Result<Placed, Fault> {
    let place = begin(site, exchange, terms)?;
    let path = target::without_query(exchange.request().path()).to_owned();
    let target = target(site, &path)?;
    let Some(name) = target.path.file_name().filter(|_| !target.is_folder) else {
        return Err(Fault::of(Status::CONFLICT, "a file cannot have the name of a folder"));
    };
    if !target::is_plain(name.as_encoded_bytes()) {
        return Err(Fault::of(Status::FORBIDDEN, UNFIT));
    }
    if exchange.request().headers().contains(KnownName::CONTENT_RANGE) {
        // Part of a file would be stored as the whole (RFC 9110 §14.5).
        return Err(Fault::of(Status::BAD_REQUEST, "a file is stored as a whole"));
    }
    judge(site, exchange, &path, terms).await?;
    let folder = open(site, target.path.parent().unwrap_or(Path::new(""))).await?;
    let mut incoming = Incoming::begin(folder)?;
    let mut left = terms.bytes_max;
    let body = exchange.body();
    while let Some(chunk) = next(body, &place).await? {
        left = left.checked_sub(chunk.len() as u64).ok_or_else(|| too_long(terms))?;
        incoming.write(chunk).await?;
    }
    let placed = incoming.finish(name.into(), terms.overwrites).await?;
    forget(site, &target, &path);
    Ok(placed)
}

/// Takes a place, and refuses what says at once that it is too long.
fn begin<'s>(site: &'s Site, exchange: &Exchange, terms: UploadTerms) -> Result<Place<'s>, Fault> {
    let length = exchange.request().headers().text(KnownName::CONTENT_LENGTH);
    let length: Option<u64> = length.and_then(|digits| digits.parse().ok());
    if length.is_some_and(|length| length > terms.bytes_max) {
        return Err(too_long(terms));
    }
    let busy = || Fault::of(Status::SERVICE_UNAVAILABLE, "too many files are uploaded at once");
    site.upload_places.take(exchange.client_address()).ok_or_else(busy)
}

/// Returns the next piece of content, as long as the upload has its place.
async fn next<'b>(body: &'b mut Body, place: &Place<'_>) -> Result<Option<&'b [u8]>, Fault> {
    let chunk = tokio::select! {
        biased;
        chunk = body.chunk() => chunk?,
        () = place.lost() => {
            return Err(Fault::of(Status::SERVICE_UNAVAILABLE, "others wait for a place, and this upload is slow"));
        }
    };
    place.note(chunk.map_or(0, <[u8]>::len));
    Ok(chunk)
}

fn too_long(terms: UploadTerms) -> Fault {
    let sentence = format!("more than {} bytes of content; see --max-body", terms.bytes_max);
    Fault::Refused(Status::CONTENT_TOO_LARGE, sentence)
}

fn target(site: &Site, path: &str) -> Result<Target, Fault> {
    let malformed = || Fault::of(Status::FORBIDDEN, UNFIT);
    Target::parse(path, site.folder.shows_dot_files()).ok_or_else(malformed)
}

/// Holds the conditions of a request against the file that is there (RFC 9110 §13.2), and refuses it where
/// there is one.
async fn judge(site: &Arc<Site>, exchange: &Exchange, path: &str, terms: UploadTerms) -> Result<(), Fault> {
    let taken = || Fault::from(io::Error::from(io::ErrorKind::AlreadyExists));
    let found = site.find(path).await;
    let validators = match &found {
        Found::File(entry) if !entry.is_page => entry.validators(),
        Found::Nothing(Status::NOT_FOUND) => Validators::absent(),
        // Whatever it is must not be replaced unseen.
        Found::Nothing(status) => return Err(Fault::of(*status, "the file that is there cannot be read")),
        _ => return Err(taken()),
    };
    match (evaluate("PUT", exchange.request().headers(), &validators), &found) {
        (Verdict::Failed, _) => Err(Fault::of(Status::PRECONDITION_FAILED, "the file is not in that state")),
        (_, Found::File(_)) if !terms.overwrites => Err(taken()),
        _ => Ok(()),
    }
}

async fn open(site: &Arc<Site>, folder: &Path) -> io::Result<Arc<Dir>> {
    let (site, folder) = (Arc::clone(site), folder.to_owned());
    let opened = tokio::task::spawn_blocking(move || site.folder.open_folder(&folder));
    opened.await.unwrap_or_else(|error| Err(io::Error::other(error))).map(Arc::new)
}

/// Lets go of what is held of a file and of the page of its folder.
fn forget(site: &Site, target: &Target, path: &str) {
    site.forget(path);
    site.forget(&target.key(path));
    let folder = path.rfind('/').map_or(path, |end| &path[..=end]);
    site.forget(folder);
    if let Some(target) = Target::parse(folder, site.folder.shows_dot_files()) {
        site.forget(&target.key(folder));
    }
}

async fn store_all(site: &Arc<Site>, exchange: &mut Exchange, terms: UploadTerms) -> Result<(), Fault> {
    let place = begin(site, exchange, terms)?;
    let path = target::without_query(exchange.request().path()).to_owned();
    let target = target(site, &path)?;
    if !target.is_folder {
        return Err(Fault::of(
            Status::CONFLICT,
            "files of a form are stored in a folder, whose path ends in a slash",
        ));
    }
    let content_type = exchange.request().headers().text(KnownName::CONTENT_TYPE).unwrap_or_default();
    let unknown = || Fault::of(Status::UNSUPPORTED_MEDIA_TYPE, "a form of multipart/form-data is wanted");
    let mut form = Form::new(content_type).ok_or_else(unknown)?;
    let folder = open(site, &target.path).await?;
    let mut files = Files { site, folder, path: &path, terms, incoming: None, parts: 0, stored: 0 };
    let mut left = terms.bytes_max;
    let body = exchange.body();
    let mut has_ended = false;
    while !has_ended {
        match next(body, &place).await? {
            Some(chunk) => {
                left = left.checked_sub(chunk.len() as u64).ok_or_else(|| too_long(terms))?;
                form.receive(chunk);
            }
            None => {
                form.receive_end();
                has_ended = true;
            }
        }
        let malformed = |_| Fault::of(Status::BAD_REQUEST, "the form is malformed");
        while let Some(event) = form.event().map_err(malformed)? {
            if event == Event::End {
                // The epilogue is no part of it.
                while next(body, &place).await?.is_some() {}
                return files.end();
            }
            files.take(event).await?;
        }
    }
    Err(Fault::of(Status::BAD_REQUEST, "the form is cut"))
}

/// The files of a form, one after the other.
struct Files<'s> {
    site: &'s Arc<Site>,
    folder: Arc<Dir>,
    /// The path of the folder, as it was asked for.
    path: &'s str,
    terms: UploadTerms,
    incoming: Option<(String, Incoming)>,
    parts: usize,
    stored: usize,
}

impl Files<'_> {
    async fn take(&mut self, event: Event) -> Result<(), Fault> {
        match (event, &mut self.incoming) {
            (Event::Part(Some(name)), _) if !name.is_empty() => self.begin(&name)?,
            (Event::Part(_), _) => self.count()?,
            (Event::Content(bytes), Some((_, incoming))) => incoming.write(&bytes).await?,
            (Event::PartEnd, Some(_)) => self.finish().await?,
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Fault> {
        self.parts += 1;
        match self.parts <= PARTS_MAX {
            true => Ok(()),
            false => Err(Fault::of(Status::CONTENT_TOO_LARGE, "the form has too many parts")),
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), Fault> {
        self.count()?;
        // Some browsers sent the path on their side.
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_fit = target::is_fit(name.as_bytes(), self.site.folder.shows_dot_files());
        if !is_fit || !target::is_plain(name.as_bytes()) {
            return Err(Fault::of(Status::FORBIDDEN, UNFIT));
        }
        self.incoming = Some((name.to_owned(), Incoming::begin(Arc::clone(&self.folder))?));
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), Fault> {
        let Some((name, incoming)) = self.incoming.take() else { return Ok(()) };
        incoming.finish(name.clone().into(), self.terms.overwrites).await?;
        let path = format!("{}{name}", self.path);
        if let Some(target) = Target::parse(&path, self.site.folder.shows_dot_files()) {
            forget(self.site, &target, &path);
        }
        self.stored += 1;
        Ok(())
    }

    fn end(self) -> Result<(), Fault> {
        match self.stored {
            0 => Err(Fault::of(Status::BAD_REQUEST, "the form has no file")),
            _ => Ok(()),
        }
    }
}
