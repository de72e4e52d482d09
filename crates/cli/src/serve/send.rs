//! The answers.

use std::{io::Write as _, ops::Range, sync::Arc};

use alula::{
    BodyWriter, Error, Exchange, KnownName, Reply, Sent, Status,
    conditional::{ContentRange, Multipart, Selection, Verdict, evaluate, select},
};

use super::{
    Site,
    entry::{Content, Entry},
    open_files::OpenFile,
};

/// Seconds until there may be room again, as servers say it that refuse requests themselves.
pub(super) const RETRY_AFTER: &str = "5";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
/// The fields of a request on which it depends whether a page stands for a path.
pub(super) const VARY: &str = "accept";

/// Answers 204 with what can be asked (RFC 9110 §9.3.7).
pub(super) async fn options(exchange: Exchange, allow: &str) -> Result<Sent, Error> {
    exchange.respond(Status::NO_CONTENT).header(KnownName::ALLOW, allow).send(&[]).await
}

/// Answers 405 with what can be asked (RFC 9110 §15.5.6).
pub(super) async fn not_allowed(exchange: Exchange, allow: &str) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::METHOD_NOT_ALLOWED).header(KnownName::ALLOW, allow);
    say(reply, Status::METHOD_NOT_ALLOWED).await
}

/// A status without anything to it but its name; one that may pass says when to come again.
pub(super) async fn nothing(exchange: Exchange, status: Status) -> Result<Sent, Error> {
    let mut reply = exchange.respond(status);
    if status == Status::SERVICE_UNAVAILABLE {
        reply = reply.header(KnownName::RETRY_AFTER, RETRY_AFTER);
    }
    say(reply, status).await
}

/// Answers 404 where a page would stand for the path in another request.
pub(super) async fn nothing_of_page(exchange: Exchange) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::NOT_FOUND).header(KnownName::VARY, VARY);
    say(reply, Status::NOT_FOUND).await
}

/// Answers 301 to the same path with a slash at its end, so that references in the page lead below it.
pub(super) async fn redirect(exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let (before, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let location = format!("{before}/{query}");
    let reply = exchange.respond(Status::MOVED_PERMANENTLY).header(KnownName::LOCATION, location);
    say(reply, Status::MOVED_PERMANENTLY).await
}

/// A file, or the parts of it that are wanted, if the conditions say so.
pub(super) async fn file(site: &Arc<Site>, exchange: Exchange, entry: &Entry) -> Result<Sent, Error> {
    match at_once(exchange, entry) {
        Ok((reply, content)) => reply.send(content).await,
        Err(exchange) => by_parts(site, exchange, entry).await,
    }
}

/// The answer and its content, if that is all of a held file, or none; else the exchange comes back.
/// Allocates nothing.
pub(super) fn at_once(exchange: Exchange, entry: &Entry) -> Result<(Reply, &[u8]), Exchange> {
    let (method, fields) = (exchange.request().method(), exchange.request().headers());
    let (status, content) = match (evaluate(method, fields, &entry.validators()), &entry.content) {
        (Verdict::NotModified, _) => return Ok((not_modified(exchange, entry), &[])),
        // A range is ignored for HEAD: ranges are defined for GET alone (RFC 9110 §14.2).
        (Verdict::Proceed, _) if is_head(&exchange) => (Status::OK, &[][..]),
        (Verdict::Proceed, Content::Held(bytes)) if !fields.contains(KnownName::RANGE) => {
            (Status::OK, &bytes[..])
        }
        _ => return Err(exchange),
    };
    Ok((described(exchange, status, entry), content))
}

/// Answers what [`at_once`] does not: with a large file, with parts of any, or with 412.
pub(super) async fn by_parts(site: &Arc<Site>, exchange: Exchange, entry: &Entry) -> Result<Sent, Error> {
    let request = exchange.request();
    match select(request.method(), request.headers(), &entry.validators(), entry.length()) {
        Selection::Part(range) => one(site, exchange, entry, range).await,
        Selection::Parts(parts) => many(site, exchange, entry, &parts).await,
        Selection::RangeNotSatisfiable => unsatisfiable(exchange, entry).await,
        Selection::PreconditionFailed => nothing(exchange, Status::PRECONDITION_FAILED).await,
        _ => {
            let reply = described(exchange, Status::OK, entry);
            part(site, reply, entry, 0..entry.length()).await
        }
    }
}

/// Returns the answer 304, which names the client's copy by its etag alone (RFC 9110 §15.4.5).
fn not_modified(exchange: Exchange, entry: &Entry) -> Reply {
    let reply = exchange.respond(Status::NOT_MODIFIED).header(KnownName::ETAG, entry.etag());
    match entry.fields.get(KnownName::VARY) {
        // A 304 carries the fields that a cache selects by (RFC 9110 §15.4.5).
        Some(vary) => reply.header(KnownName::VARY, vary),
        None => reply,
    }
}

/// Answers 416 with the length there is (RFC 9110 §15.5.17).
async fn unsatisfiable(exchange: Exchange, entry: &Entry) -> Result<Sent, Error> {
    let status = Status::RANGE_NOT_SATISFIABLE;
    let reply = exchange.respond(status);
    let reply = reply.header(KnownName::CONTENT_RANGE, ContentRange::unsatisfied(entry.length()));
    say(reply, status).await
}

/// Answers with a single part (RFC 9110 §15.3.7.1).
async fn one(site: &Arc<Site>, exchange: Exchange, entry: &Entry, range: Range<u64>) -> Result<Sent, Error> {
    let mut reply = described(exchange, Status::PARTIAL_CONTENT, entry);
    let fields = reply.headers_mut();
    fields.set(KnownName::CONTENT_RANGE, ContentRange::of(range.clone(), entry.length()))?;
    fields.set(KnownName::CONTENT_LENGTH, (range.end - range.start).to_string())?;
    part(site, reply, entry, range).await
}

/// Answers with several parts, each with its own type and place (RFC 9110 §15.3.7.2).
async fn many(
    site: &Arc<Site>,
    exchange: Exchange,
    entry: &Entry,
    parts: &[Range<u64>],
) -> Result<Sent, Error> {
    let multipart = Multipart::new(entry.media_type.as_bytes(), parts, entry.length())?;
    let mut reply = described(exchange, Status::PARTIAL_CONTENT, entry);
    let fields = reply.headers_mut();
    fields.set(KnownName::CONTENT_TYPE, multipart.media_type())?;
    fields.set(KnownName::CONTENT_LENGTH, multipart.content_length().to_string())?;
    let mut writer = reply.stream().await?;
    for (index, part) in parts.iter().enumerate() {
        writer.write(multipart.head(index)).await?;
        write(site, &mut writer, entry, part).await?;
    }
    writer.finish_content(multipart.close()).await
}

/// Sends one part of a file as the content of an answer.
async fn part(site: &Arc<Site>, reply: Reply, entry: &Entry, range: Range<u64>) -> Result<Sent, Error> {
    match &entry.content {
        Content::Held(bytes) => {
            let bytes = &bytes[range.start as usize..range.end as usize];
            reply.send(bytes).await
        }
        Content::Open(file) => {
            let mut writer = reply.stream().await?;
            read(site, entry, file, range, &mut writer).await?;
            writer.finish().await
        }
    }
}

/// Sends one part of a file among others.
async fn write(
    site: &Arc<Site>,
    writer: &mut BodyWriter,
    entry: &Entry,
    range: &Range<u64>,
) -> Result<(), Error> {
    match &entry.content {
        Content::Held(bytes) => writer.write(&bytes[range.start as usize..range.end as usize]).await,
        Content::Open(file) => read(site, entry, file, range.clone(), writer).await,
    }
}

/// Sends part of a large file. Whatever ends it early, the file is looked at again before the next answer is
/// made of it.
async fn read(
    site: &Arc<Site>,
    entry: &Entry,
    file: &OpenFile,
    range: Range<u64>,
    writer: &mut BodyWriter,
) -> Result<(), Error> {
    let sent = file.send_part(range, &site.buffers, writer, |_| ()).await;
    sent.inspect_err(|_| entry.distrust())
}

/// An answer with the fields of the file, which were written when it was read.
fn described(exchange: Exchange, status: Status, entry: &Entry) -> Reply {
    let mut reply = exchange.respond(status);
    reply.headers_mut().copy_from(&entry.fields);
    reply
}

/// The name of the status, as text.
async fn say(reply: Reply, status: Status) -> Result<Sent, Error> {
    let mut text = [0; 64];
    let mut rest = &mut text[..];
    // Text that does not fit is left out.
    let _ = writeln!(rest, "{status} {}", status.reason().unwrap_or_default());
    let left = rest.len();
    let text = &text[..text.len() - left];
    reply.header(KnownName::CONTENT_TYPE, TEXT).send(text).await
}

fn is_head(exchange: &Exchange) -> bool {
    exchange.request().method() == "HEAD"
}
