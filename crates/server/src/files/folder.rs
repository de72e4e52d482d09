//! A folder as a handler: the path of a request names a file in it.
//!
//! Rule: a name of a peer becomes part of a path only if it is one plain name, on any system.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use alula_fields::{KnownName, Status};
use alula_net::{Error, Phase, Sent};

use super::cached::{ReadFile, on_blocking_thread};
use crate::{answer::Answer, connection::handler::Handler, exchange::Exchange};

/// The file that answers for a folder.
const INDEX: &str = "index.html";

/// The one name that begins with a dot and is served (RFC 8615).
const WELL_KNOWN: &str = ".well-known";

/// The files of a folder as answers to GET: a [handler](Self::handler) for a route that ends in a capture,
/// such as `/static/{*path}`.
///
/// The last capture of the route names the file, under the request's conditions and range as
/// [`Reply::file`](crate::Reply::file) has it. `index.html` answers for a folder, whose path without the
/// slash at its end is redirected to the one with it (308). All else is 404: folders without that file, names
/// that begin with a dot but for `.well-known`, and names with a backslash, colon or NUL in them. No folder
/// is listed. Symbolic links are followed wherever they lead, so whoever may write to the folder decides what
/// is served. Each request opens its file, as [`Reply::file`](crate::Reply::file) does and at its cost.
///
/// ```
/// use alula::{Router, files::Folder, routing::get};
///
/// let site = Folder::new("site");
/// let router = Router::<()>::new().route("/{*path}", get(site.handler()));
/// # router.build().unwrap();
/// ```
#[doc(alias("ServeDir", "StaticFiles"))]
#[derive(Clone, Debug)]
pub struct Folder(Arc<Path>);

/// The thing that a path leads to.
enum Found {
    File(ReadFile),
    /// A folder, which the path named as if it were a file.
    Folder,
}

impl Folder {
    /// Names the folder. Nothing is looked at before a request; a relative path counts from the working
    /// directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into().into())
    }

    /// Returns the handler, for `get`. On a route without a capture it answers `index.html`.
    pub fn handler<S: Send + Sync + 'static>(&self) -> impl Handler<S> + use<S> {
        let folder = self.clone();
        move |exchange: Exchange<S>| {
            let path = exchange.last_param().map(|name| folder.path_of(&name));
            async move { answer(exchange, path?.ok_or(Status::NOT_FOUND)?).await }
        }
    }

    /// Returns the path of a file by its name in the folder; none for a name that is not served.
    fn path_of(&self, name: &[u8]) -> Option<PathBuf> {
        let name = std::str::from_utf8(name).ok()?;
        let mut path = self.0.to_path_buf();
        for segment in name.split('/').filter(|segment| !segment.is_empty()) {
            path.push(is_plain(segment).then_some(segment)?);
        }
        if name.is_empty() || name.ends_with('/') {
            path.push(INDEX);
        }
        Some(path)
    }
}

/// Returns true if it names nothing but a file or folder in the one that it is looked for in.
fn is_plain(segment: &str) -> bool {
    let is_hidden = segment.starts_with('.') && segment != WELL_KNOWN;
    // On Windows `\` separates names, and `:` follows a drive or precedes a stream of a file; NUL ends a
    // name.
    !is_hidden && !segment.contains(['\\', ':', '\0'])
}

async fn answer<S: Send + Sync + 'static>(exchange: Exchange<S>, path: PathBuf) -> Result<Sent, Answer> {
    let found = match ReadFile::open_cached(&path) {
        Ok(Some(file)) => Ok(Found::File(file)),
        Ok(None) => on_blocking_thread(move || find(path)).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(Found::File(file)) => Ok(exchange.respond(Status::OK).send_read(file).await?),
        Ok(Found::Folder) => Err(redirect(exchange.request().path())),
        // A name that is longer than names may be, for one.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Err(Status::NOT_FOUND.into()),
        Err(error) => Err(Error::io(Phase::Build, error).into()),
    }
}

fn find(path: PathBuf) -> io::Result<Found> {
    match std::fs::metadata(&path)?.is_dir() {
        true => Ok(Found::Folder),
        false => ReadFile::open(path).map(Found::File),
    }
}

/// Redirects to the same path with a slash at its end. The reference is relative to the parent folder, so
/// that no path reads as an authority (RFC 3986 §4.2).
fn redirect(target: &str) -> Answer {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let last = path.rsplit('/').next().unwrap_or_default();
    Answer::new(Status::PERMANENT_REDIRECT).header(KnownName::LOCATION, format!("./{last}/{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_but_into_the_folder() {
        let folder = Folder::new("/srv");
        let path = |name: &str| folder.path_of(name.as_bytes());
        for (name, file) in [
            ("", "/srv/index.html"),
            ("a.txt", "/srv/a.txt"),
            ("a/b/", "/srv/a/b/index.html"),
            (".well-known/security.txt", "/srv/.well-known/security.txt"),
            ("a b..c", "/srv/a b..c"),
            ("a//b", "/srv/a/b"),
            ("/etc/passwd", "/srv/etc/passwd"),
            ("//", "/srv/index.html"),
        ] {
            assert_eq!(path(name), Some(file.into()), "{name}");
        }
        for name in ["..", "a/../b", ".", ".git/config", "/..", "a\\..\\b", "c:", "a\0"] {
            assert_eq!(path(name), None, "{name}");
        }
        assert_eq!(folder.path_of(b"\xff"), None);
    }

    #[test]
    fn a_redirect_stays_in_its_folder() {
        for (target, location) in
            [("/a/b", "./b/"), ("/a/b?c=/d", "./b/?c=/d"), ("//evil", "./evil/"), ("/a:b", "./a:b/")]
        {
            assert_eq!(redirect(target).headers().get("location"), Some(location.as_bytes()));
        }
    }
}
