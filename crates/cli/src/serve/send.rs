//! The answers.

use std::{io::Write as _, ops::Range, sync::Arc};

use alula::{BodyWriter, Error, Exchange, KnownName, Reply, Sent, Status};

use super::{
    ALLOW, Site,
    conditions::{self, Verdict},
    entry::{Content, Entry},
    log::Record,
    range::{self, Wanted},
    reader,
};

/// Seconds until there may be room again, as servers say it that refuse requests themselves.
const RETRY_AFTER: &str = "5";
const TEXT: &str = "text/plain; charset=utf-8";

/// 204 with what can be asked (RFC 9110 §9.3.7).
pub(super) async fn options(exchange: Exchange, record: &mut Record) -> Result<Sent, Error> {
    record.set(Status::NO_CONTENT, 0);
    exchange.respond(Status::NO_CONTENT).field(KnownName::ALLOW, ALLOW).send(&[]).await
}

/// 405 with what can be asked (RFC 9110 §15.5.6).
pub(super) async fn not_allowed(exchange: Exchange, record: &mut Record) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::METHOD_NOT_ALLOWED).field(KnownName::ALLOW, ALLOW);
    say(reply, Status::METHOD_NOT_ALLOWED, false, record).await
}

/// A status without anything to it but its name; one that may pass says when to come again.
pub(super) async fn nothing(exchange: Exchange, status: Status, record: &mut Record) -> Result<Sent, Error> {
    let is_head = is_head(&exchange);
    let mut reply = exchange.respond(status);
    if status == Status::SERVICE_UNAVAILABLE {
        reply = reply.field(KnownName::RETRY_AFTER, RETRY_AFTER);
    }
    say(reply, status, is_head, record).await
}

/// 301 to the same path with a slash at its end, so that references in the page lead below it.
pub(super) async fn redirect(exchange: Exchange, record: &mut Record) -> Result<Sent, Error> {
    let path = exchange.request().path();
    let (before, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let (location, is_head) = (format!("{before}/{query}"), is_head(&exchange));
    let reply = exchange.respond(Status::MOVED_PERMANENTLY).field(KnownName::LOCATION, location);
    say(reply, Status::MOVED_PERMANENTLY, is_head, record).await
}

/// A file, or the parts of it that are wanted, if the conditions say so.
pub(super) async fn file(
    site: &Arc<Site>,
    exchange: Exchange,
    entry: &Entry,
    record: &mut Record,
) -> Result<Sent, Error> {
    match at_once(exchange, entry, record) {
        Ok((reply, content)) => reply.send(content).await,
        Err(exchange) => by_parts(site, exchange, entry, record).await,
    }
}

/// The answer and its content, if that is all of a held file, or none; else the exchange comes back. Allocates nothing.
pub(super) fn at_once<'e>(
    exchange: Exchange,
    entry: &'e Entry,
    record: &mut Record,
) -> Result<(Reply, &'e [u8]), Exchange> {
    let fields = exchange.request().fields();
    let (status, content) = match (conditions::evaluate(fields, entry.validators()), &entry.content) {
        (Verdict::NotModified, _) => {
            let reply = not_modified(exchange, entry.validators().etag, record);
            return Ok((reply, &[]));
        }
        (Verdict::Proceed, _) if is_head(&exchange) => (Status::OK, &[][..]),
        (Verdict::Proceed, Content::Held(octets)) if !fields.contains(KnownName::RANGE) => {
            (Status::OK, &octets[..])
        }
        _ => return Err(exchange),
    };
    record.set(status, content.len() as u64);
    Ok((described(exchange, status, entry), content))
}

/// What [`at_once`] has no answer for: a large file, parts of any, and 412.
pub(super) async fn by_parts(
    site: &Arc<Site>,
    exchange: Exchange,
    entry: &Entry,
    record: &mut Record,
) -> Result<Sent, Error> {
    let (fields, validators) = (exchange.request().fields(), entry.validators());
    if conditions::evaluate(fields, validators) == Verdict::Failed {
        return nothing(exchange, Status::PRECONDITION_FAILED, record).await;
    }
    let range = conditions::due_range(fields, validators);
    match range.map_or(Wanted::Whole, |range| range::wanted(range, entry.length())) {
        Wanted::Whole => {
            let reply = described(exchange, Status::OK, entry);
            part(site, reply, entry, 0..entry.length(), record.of(Status::OK)).await
        }
        Wanted::One(range) => one(site, exchange, entry, range, record).await,
        Wanted::Many(parts) => many(site, exchange, entry, &parts, record).await,
        Wanted::None => unsatisfiable(exchange, entry, record).await,
    }
}

/// 304: what the client has is named by its etag, and by nothing that it has already (RFC 9110 §15.4.5).
fn not_modified(exchange: Exchange, etag: Option<&str>, record: &mut Record) -> Reply {
    record.set(Status::NOT_MODIFIED, 0);
    let reply = exchange.respond(Status::NOT_MODIFIED);
    match etag {
        Some(etag) => reply.field(KnownName::ETAG, etag),
        None => reply,
    }
}

/// 416 with the length there is (RFC 9110 §15.5.17).
async fn unsatisfiable(exchange: Exchange, entry: &Entry, record: &mut Record) -> Result<Sent, Error> {
    let status = Status::RANGE_NOT_SATISFIABLE;
    let reply = exchange.respond(status);
    let reply = reply.field(KnownName::CONTENT_RANGE, format!("bytes */{}", entry.length()));
    say(reply, status, false, record).await
}

/// One part (RFC 9110 §15.3.7.1).
async fn one(
    site: &Arc<Site>,
    exchange: Exchange,
    entry: &Entry,
    range: Range<u64>,
    record: &mut Record,
) -> Result<Sent, Error> {
    let mut reply = described(exchange, Status::PARTIAL_CONTENT, entry);
    let fields = reply.fields_mut();
    fields.set(KnownName::CONTENT_RANGE, content_range(&range, entry))?;
    fields.set(KnownName::CONTENT_LENGTH, (range.end - range.start).to_string())?;
    part(site, reply, entry, range, record.of(Status::PARTIAL_CONTENT)).await
}

/// Several parts, each with its own type and place (RFC 9110 §15.3.7.2).
async fn many(
    site: &Arc<Site>,
    exchange: Exchange,
    entry: &Entry,
    parts: &[Range<u64>],
    record: &mut Record,
) -> Result<Sent, Error> {
    let boundary = boundary()?;
    let heads: Vec<_> = parts.iter().map(|part| part_head(&boundary, entry, part)).collect();
    let close = format!("\r\n--{boundary}--\r\n");
    let octets = |(head, part): (&String, &Range<u64>)| head.len() as u64 + (part.end - part.start);
    let length = heads.iter().zip(parts).map(octets).sum::<u64>() + close.len() as u64;

    let mut reply = described(exchange, Status::PARTIAL_CONTENT, entry);
    let fields = reply.fields_mut();
    fields.set(KnownName::CONTENT_TYPE, format!("multipart/byteranges; boundary={boundary}"))?;
    fields.set(KnownName::CONTENT_LENGTH, length.to_string())?;
    record.set(Status::PARTIAL_CONTENT, 0);
    let mut writer = reply.stream().await?;
    for (head, part) in heads.iter().zip(parts) {
        writer.write(head.as_bytes()).await?;
        write(site, &mut writer, entry, part, record).await?;
    }
    record.add(length - parts.iter().map(|part| part.end - part.start).sum::<u64>());
    writer.finish_content(close.as_bytes()).await
}

/// Sends one part of a file as the content of an answer.
async fn part(
    site: &Arc<Site>,
    reply: Reply,
    entry: &Entry,
    range: Range<u64>,
    record: &mut Record,
) -> Result<Sent, Error> {
    match &entry.content {
        Content::Held(octets) => {
            let octets = &octets[range.start as usize..range.end as usize];
            record.add(octets.len() as u64);
            reply.send(octets).await
        }
        Content::Open(file) => {
            let mut writer = reply.stream().await?;
            reader::send(site, entry, file, range, &mut writer, record).await?;
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
    record: &mut Record,
) -> Result<(), Error> {
    match &entry.content {
        Content::Held(octets) => {
            record.add(range.end - range.start);
            writer.write(&octets[range.start as usize..range.end as usize]).await
        }
        Content::Open(file) => reader::send(site, entry, file, range.clone(), writer, record).await,
    }
}

/// An answer with the fields of the file, which were written when it was read.
fn described(exchange: Exchange, status: Status, entry: &Entry) -> Reply {
    let mut reply = exchange.respond(status);
    reply.fields_mut().copy_from(&entry.fields);
    reply
}

/// The name of the status, as text.
async fn say(reply: Reply, status: Status, is_head: bool, record: &mut Record) -> Result<Sent, Error> {
    let mut text = [0; 64];
    let mut rest = &mut text[..];
    // What does not fit is left out.
    let _ = writeln!(rest, "{status} {}", status.reason().unwrap_or_default());
    let left = rest.len();
    let text = &text[..text.len() - left];
    record.set(status, if is_head { 0 } else { text.len() as u64 });
    reply.field(KnownName::CONTENT_TYPE, TEXT).send(text).await
}

fn is_head(exchange: &Exchange) -> bool {
    exchange.request().method() == "HEAD"
}

fn content_range(part: &Range<u64>, entry: &Entry) -> String {
    format!("bytes {}-{}/{}", part.start, part.end - 1, entry.length())
}

/// What comes before a part's content.
fn part_head(boundary: &str, entry: &Entry, part: &Range<u64>) -> String {
    let (media_type, range) = (&entry.media_type, content_range(part, entry));
    format!("\r\n--{boundary}\r\ncontent-type: {media_type}\r\ncontent-range: {range}\r\n\r\n")
}

/// What divides parts: chance, so that no file can be made to hold it.
fn boundary() -> Result<String, Error> {
    let mut chance = [0; 16];
    let filled = aws_lc_rs::rand::fill(&mut chance);
    filled.map_err(|_| Error::usage("the system has no random numbers"))?;
    Ok(chance.iter().map(|octet| format!("{octet:02x}")).collect())
}
