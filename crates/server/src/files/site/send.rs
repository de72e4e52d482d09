//! Answers with files.

use alula_fields::{KnownName, Status};
use alula_net::{Error, Sent};

use super::entry::{Content, Entry};
use crate::{answer::Answer, exchange::Exchange};

/// Seconds until there may be room again, as servers say it that refuse requests themselves.
const RETRY_AFTER: &str = "5";

/// Answers with a file, or the parts of it that are wanted, if the conditions say so. A small file is sent
/// without allocating.
pub(super) async fn file<S>(exchange: Exchange<S>, entry: &Entry) -> Result<Sent, Error> {
    let form = entry.choose(exchange.request().headers());
    let mut reply = exchange.respond(Status::OK);
    reply.headers_mut().copy_from(&form.fields);
    match &form.content {
        Content::Held(bytes) => reply.send_selected(bytes, form.is_settled).await,
        // Whatever ends it early, the file is looked at again before the next answer is made of it.
        Content::Open(file) => Box::pin(reply.send_file(file)).await.inspect_err(|_| entry.distrust()),
    }
}

/// Answers 404 with the page for it.
pub(super) async fn not_found_page<S>(exchange: Exchange<S>, page: &Entry) -> Result<Sent, Error> {
    let mut reply = exchange.respond(Status::NOT_FOUND);
    if let Some(media_type) = page.main.fields.get(KnownName::CONTENT_TYPE) {
        reply = reply.header(KnownName::CONTENT_TYPE, media_type);
    }
    match &page.main.content {
        Content::Held(bytes) => reply.send(bytes).await,
        Content::Open(file) => Box::pin(reply.send_whole(file)).await.inspect_err(|_| page.distrust()),
    }
}

/// Answers 503, and says when to come again.
pub(super) fn busy() -> Answer {
    Answer::new(Status::SERVICE_UNAVAILABLE).header(KnownName::RETRY_AFTER, RETRY_AFTER)
}

/// Redirects to the same path with a slash at its end, so that references in the page lead below it. The
/// reference is relative to the parent folder: no path reads as an authority then (RFC 3986 §4.2).
pub(super) fn redirect(target: &str) -> Answer {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let last = path.rsplit('/').next().unwrap_or_default();
    Answer::new(Status::PERMANENT_REDIRECT).header(KnownName::LOCATION, format!("./{last}/{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_stays_in_its_folder() {
        for (target, location) in
            [("/a/b", "./b/"), ("/a/b?c=/d", "./b/?c=/d"), ("//evil", "./evil/"), ("/a:b", "./a:b/")]
        {
            assert_eq!(redirect(target).headers().get("location"), Some(location.as_bytes()));
        }
    }
}
