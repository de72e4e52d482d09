//! Files that are stored, by PUT under their path and by a form in their folder.
//!
//! Rule 1: a file is stored where it could be served from and nowhere else: its path is read by [`Target`],
//! and its folder opened below the folder that is served.
//! Rule 2: nobody sees a file before it is whole.

mod incoming;
mod places;

use std::{io, path::Path, sync::Arc};

use alula_fields::{KnownName, Status};
use alula_net::{Body, Error, Sent};
use cap_std::fs::Dir;

use self::{
    incoming::{Incoming, Placed},
    places::{Place, Places},
};
use super::site::{
    Site, State,
    target::{self, Rules, Target},
};
use crate::{
    answer::{Answer, IntoAnswer as _},
    conditional::{Validators, Verdict, evaluate},
    connection::handler::Handler,
    exchange::Exchange,
};

/// Files that are stored at once: each has a descriptor.
const UPLOADS_AT_ONCE: usize = 64;

/// The reason for a name that is none to a server of files.
const UNFIT: &str = "nothing can be stored under that name";

/// Stores files in a folder that is served, by PUT and by forms; made by
/// [`Folder::uploads`](super::Folder::uploads).
///
/// Files come to the folders that are there, under names that could be served. Until a file is whole and on
/// the disk it is hidden under another name, which nobody can ask for; a request that ends early leaves
/// nothing. Whoever may ask can fill the disk.
///
/// 64 uploads run at once, with a descriptor each. When all places are taken, a peer (an IPv4 address, a /64
/// of IPv6) with more of them than the newcomer gives up its slowest, if that came to less than 32 KiB a
/// second since it began at least 2 s ago; else the newcomer gets 503. The only upload of a peer is never
/// ended so. Clones share the places.
///
/// ```
/// use alula::{Router, files::Folder, routing::get};
///
/// let site = Folder::new("site").listing();
/// let uploads = site.uploads().content_max(100 << 20);
/// let files = get(site.handler()).put(uploads.put_handler()).post(uploads.form_handler());
/// # Router::<()>::new().route("/{*path}", files).build().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Uploads {
    site: Arc<Site>,
    places: Arc<Places>,
    terms: Terms,
}

/// The terms on which files are stored.
#[derive(Clone, Copy, Debug)]
struct Terms {
    /// They replace others.
    overwrites: bool,
    /// Bytes of a request's content at most.
    content_max: u64,
}

/// One request that stores files, and its place.
struct Storing<'u> {
    uploads: &'u Uploads,
    place: Place<'u>,
    /// The path of the request below the folder.
    path: String,
    rules: Rules,
    target: Target,
    left: u64,
}

impl Uploads {
    pub(super) fn new(site: Arc<Site>) -> Self {
        let terms = Terms { overwrites: false, content_max: 1 << 30 };
        Self { site, places: Arc::new(Places::new(UPLOADS_AT_ONCE)), terms }
    }

    /// Lets files take the place of others, which is answered 409 otherwise.
    #[must_use]
    pub fn overwrite(mut self) -> Self {
        self.terms.overwrites = true;
        self
    }

    /// Sets the bytes of content of a request at most, 1 GiB unless it is set; more is answered 413.
    #[must_use]
    pub fn content_max(mut self, bytes: u64) -> Self {
        self.terms.content_max = bytes;
        self
    }

    /// Returns the handler for PUT (RFC 9110 §9.3.4): 201 for a new file, 204 for one that takes the place of
    /// another, 412 if the conditions say so, 409 where a file or no folder is.
    pub fn put_handler<S: Send + Sync + 'static>(&self) -> impl Handler<S> + Clone + use<S> {
        let uploads = self.clone();
        move |exchange| put(uploads.clone(), exchange)
    }

    /// Returns the handler for POST of a form to a folder (`multipart/form-data`): all of its files are
    /// stored, and the answer is 303 to the folder. Files before one that is refused stay.
    pub fn form_handler<S: Send + Sync + 'static>(&self) -> impl Handler<S> + Clone + use<S> {
        let uploads = self.clone();
        move |exchange| form(uploads.clone(), exchange)
    }

    /// Takes a place for a request, and refuses what says at once that it is too long.
    fn begin<S>(&self, exchange: &Exchange<S>) -> Result<Storing<'_>, Answer> {
        let length = exchange.request().headers().text(KnownName::CONTENT_LENGTH);
        let length: Option<u64> = length.and_then(|digits| digits.parse().ok());
        if length.is_some_and(|length| length > self.terms.content_max) {
            return Err(self.too_long());
        }
        let place = self.places.take(exchange.client_address());
        let place = place.ok_or_else(|| busy("too many files are uploaded at once"))?;
        let unfit = || Answer::from((Status::FORBIDDEN, UNFIT));
        let (path, segments) = exchange.last_capture().ok_or_else(unfit)?;
        let (path, rules) = (path.to_owned(), self.site.rules(segments));
        let target = Target::parse(&path, rules).ok_or_else(unfit)?;
        Ok(Storing { uploads: self, place, path, rules, target, left: self.terms.content_max })
    }

    fn too_long(&self) -> Answer {
        let sentence = format!("the content is longer than {} bytes", self.terms.content_max);
        Answer::new(Status::CONTENT_TOO_LARGE).detail(sentence)
    }
}

async fn put<S>(uploads: Uploads, mut exchange: Exchange<S>) -> Result<Sent, Answer> {
    let mut storing = uploads.begin(&exchange)?;
    let room = exchange.reserve(0);
    let name = storing.name_of_file()?.to_owned();
    let headers = exchange.request().headers();
    if headers.contains(KnownName::CONTENT_RANGE) {
        // Part of a file would be stored as the whole (RFC 9110 §14.5).
        return Err((Status::BAD_REQUEST, "a file is stored as a whole").into());
    }
    let state = uploads.site.state(&storing.path, storing.rules, room).await;
    uploads.judge(&exchange, &state)?;
    let folder = storing.folder(storing.target.path.parent().unwrap_or(Path::new(""))).await?;
    let mut incoming = Incoming::begin(folder).map_err(refused)?;
    let body = exchange.body();
    while let Some(chunk) = storing.next(body).await? {
        incoming.write(chunk).await.map_err(refused)?;
    }
    let placed = incoming.finish(name.into(), uploads.terms.overwrites).await.map_err(refused)?;
    uploads.site.forget(&storing.path, storing.rules);
    let status = if placed == Placed::New { Status::CREATED } else { Status::NO_CONTENT };
    let location = path_of(&exchange);
    let reply = exchange.respond(status);
    Ok(if placed == Placed::New { reply.header(KnownName::LOCATION, location) } else { reply }
        .send([])
        .await?)
}

async fn form<S>(uploads: Uploads, mut exchange: Exchange<S>) -> Result<Sent, Answer> {
    let storing = uploads.begin(&exchange)?;
    if !storing.target.is_folder {
        let sentence = "files of a form are stored in a folder, whose path ends in a slash";
        return Err((Status::CONFLICT, sentence).into());
    }
    // The reader of forms counts what comes.
    exchange.body().set_content_max(usize::try_from(storing.left).unwrap_or(usize::MAX));
    let mut form = exchange.multipart()?;
    let folder = storing.folder(&storing.target.path).await?;
    let mut stored = 0;
    while let Some(mut part) = storing.unless_lost(form.next_part()).await? {
        // An input of a form that was left empty has a file without a name.
        let Some(name) = part.file_name().filter(|name| !name.is_empty()) else { continue };
        let is_fit = target::is_fit(name.as_bytes(), storing.rules.shows_hidden);
        if !is_fit || !is_plain(name.as_bytes()) {
            return Err((Status::FORBIDDEN, UNFIT).into());
        }
        let mut incoming = Incoming::begin(Arc::clone(&folder)).map_err(refused)?;
        while let Some(chunk) = storing.unless_lost(part.chunk()).await? {
            storing.place.note(chunk.len());
            incoming.write(chunk).await.map_err(refused)?;
        }
        incoming.finish(name.clone().into(), uploads.terms.overwrites).await.map_err(refused)?;
        uploads.site.forget(&format!("{}{name}", storing.path), storing.rules);
        stored += 1;
    }
    if stored == 0 {
        return Err((Status::BAD_REQUEST, "the form has no file").into());
    }
    let location = path_of(&exchange);
    Ok(exchange.respond(Status::SEE_OTHER).header(KnownName::LOCATION, location).send([]).await?)
}

impl Uploads {
    /// Holds the conditions of a request against the file that is there (RFC 9110 §13.2), and refuses it
    /// where there is one.
    fn judge<S>(&self, exchange: &Exchange<S>, state: &State) -> Result<(), Answer> {
        let taken = || refused(io::ErrorKind::AlreadyExists.into());
        let validators = match state {
            State::File(entry) => entry.main.validators(),
            State::Nothing => Validators::absent(),
            State::Other => return Err(taken()),
            // Whatever it is must not be replaced unseen.
            State::Failed(status) => {
                return Err((*status, "the file that is there cannot be read").into());
            }
        };
        let verdict = evaluate("PUT", exchange.request().headers(), &validators);
        match (verdict, state) {
            (Verdict::Failed, _) => {
                Err((Status::PRECONDITION_FAILED, "the file is not in that state").into())
            }
            (_, State::File(_)) if !self.terms.overwrites => Err(taken()),
            _ => Ok(()),
        }
    }
}

impl Storing<'_> {
    /// Returns the name of the file that is to be stored.
    fn name_of_file(&self) -> Result<&std::ffi::OsStr, Answer> {
        let name = self.target.path.file_name().filter(|_| !self.target.is_folder);
        let name = name.ok_or((Status::CONFLICT, "a file cannot have the name of a folder"))?;
        if is_plain(name.as_encoded_bytes()) { Ok(name) } else { Err((Status::FORBIDDEN, UNFIT).into()) }
    }

    /// Opens the folder that takes the files.
    async fn folder(&self, path: &Path) -> Result<Arc<Dir>, Answer> {
        self.uploads.site.open_folder(path).await.map(Arc::new).map_err(refused)
    }

    /// Returns the next piece of content.
    async fn next<'b>(&mut self, body: &'b mut Body) -> Result<Option<&'b [u8]>, Answer> {
        let chunk = self.unless_lost(body.chunk()).await?;
        let bytes = chunk.map_or(0, <[u8]>::len);
        self.place.note(bytes);
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| self.uploads.too_long())?;
        Ok(chunk)
    }

    /// Waits for content as long as the request has its place.
    async fn unless_lost<T>(&self, content: impl Future<Output = Result<T, Error>>) -> Result<T, Answer> {
        tokio::select! {
            biased;
            content = content => Ok(content?),
            () = self.place.lost() => Err(busy("others wait for a place, and this upload is slow")),
        }
    }
}

/// Returns true if a name has no control characters, which terminals obey and lists of names are broken by.
/// Files that are there may have them; new ones are given none.
fn is_plain(name: &[u8]) -> bool {
    !String::from_utf8_lossy(name).contains(char::is_control)
}

/// Returns the path of a request without its query.
fn path_of<S>(exchange: &Exchange<S>) -> String {
    let path = exchange.request().path();
    path.split_once('?').map_or(path, |(path, _)| path).to_owned()
}

fn busy(sentence: &'static str) -> Answer {
    Answer::new(Status::SERVICE_UNAVAILABLE).detail(sentence).header(KnownName::RETRY_AFTER, "5")
}

/// Returns the answer for a file that cannot be stored.
fn refused(error: io::Error) -> Answer {
    let (status, sentence) = match error.kind() {
        io::ErrorKind::AlreadyExists => (Status::CONFLICT, "there is something of that name"),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (Status::CONFLICT, "the folder is not there")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (Status::FORBIDDEN, "the folder takes no files")
        }
        io::ErrorKind::InvalidFilename => (Status::FORBIDDEN, UNFIT),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            (Status::INSUFFICIENT_STORAGE, "there is no room on the disk")
        }
        // It is told to those who run the server.
        _ => return Error::other(error).into_answer(),
    };
    (status, sentence).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_in_no_plain_name() {
        for name in ["a", "a b", "\u{e4}", "-rf", "...", "\u{a0}"] {
            assert!(is_plain(name.as_bytes()), "{name}");
        }
        for name in ["\n", "a\rb", "\x1b[31m", "\x7f", "\u{9b}31m", "\t"] {
            assert!(!is_plain(name.as_bytes()), "{name:?}");
        }
    }
}
