//! The answer of a path, as a value that is sent in one place.

use std::{io, time::Duration};

use alula::{Answer, Exchange, FieldSection, KnownName, Sent, Status, fields::IntoName};
use serde::Serialize;

use super::asked::no_room;
use crate::echo::terms::Terms;
use crate::text::json;

pub(super) const JSON: &str = "application/json";
pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const BYTES: &str = "application/octet-stream";

/// Bytes of JSON that are printed for each byte of the request, and beyond: indents can make much of
/// little.
const PRINTED_FACTOR: usize = 16;
const PRINTED_MORE: usize = 256 * 1024;

/// An answer that is not sent yet.
#[derive(Debug)]
pub(super) struct Made {
    status: Status,
    headers: FieldSection,
    content: Vec<u8>,
    /// The pace; without one, the content is sent at once, with its length.
    pace: Option<Pace>,
}

/// The way in which content is sent in pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Pace {
    /// The time before anything is sent.
    pub(super) before: Duration,
    /// The end of each piece.
    pub(super) cut: Cut,
    /// The time after each piece.
    pub(super) pause: Duration,
    /// The length stands in the head.
    pub(super) states_length: bool,
}

/// The end of a piece.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cut {
    /// A piece ends behind each newline.
    Lines,
    /// A piece ends after this many bytes, at least one.
    Bytes(usize),
}

impl Made {
    /// An answer without content.
    pub(super) fn new(status: Status) -> Self {
        Self { status, headers: FieldSection::new(), content: Vec::new(), pace: None }
    }

    /// Creates an answer of 200 with this content.
    pub(super) fn of(media_type: &str, content: impl Into<Vec<u8>>) -> Self {
        Self { content: content.into(), ..Self::new(Status::OK) }.typed(media_type)
    }

    /// Creates an answer of 200 with JSON, indented by two, in ASCII, with a newline at its end.
    ///
    /// # Errors
    /// 413 for what takes more than some times the bytes of the request's content.
    pub(super) fn json(value: &impl Serialize, asked_bytes: usize) -> Result<Self, Answer> {
        let bytes_max = asked_bytes.saturating_mul(PRINTED_FACTOR).saturating_add(PRINTED_MORE);
        let mut out = Bounded { out: Vec::new(), bytes_max };
        serde_json::to_writer_pretty(&mut out, value).map_err(|_| {
            Answer::new(Status::CONTENT_TOO_LARGE).detail("the content is too long when it is described")
        })?;
        let text = String::from_utf8(out.out).map_err(|_| Status::INTERNAL_SERVER_ERROR)?;
        Ok(Self::of(JSON, json::to_ascii(&text) + "\n"))
    }

    fn typed(mut self, media_type: &str) -> Self {
        // It is a value by its form.
        let _ = self.headers.set(KnownName::CONTENT_TYPE, media_type);
        self
    }

    /// Sets the status.
    pub(super) fn status(self, status: Status) -> Self {
        Self { status, ..self }
    }

    /// Adds a field.
    ///
    /// # Errors 400 if the field is invalid: its text comes from the peer.
    pub(super) fn header<'n>(
        mut self,
        name: impl IntoName<'n>,
        value: impl AsRef<[u8]>,
    ) -> Result<Self, Answer> {
        self.headers.append(name, value).map_err(|_| {
            Answer::new(Status::BAD_REQUEST).detail("the answer would have a field that is none")
        })?;
        Ok(self)
    }

    /// Sends the content in pieces.
    pub(super) fn paced(self, pace: Pace) -> Self {
        Self { pace: Some(pace), ..self }
    }

    /// The same with its content in a coding.
    pub(super) fn coded(mut self, coding: &str, encode: fn(&[u8]) -> Vec<u8>) -> Result<Self, Answer> {
        self.content = encode(&self.content);
        self.header(KnownName::CONTENT_ENCODING, coding)
    }

    /// Sends it.
    ///
    /// # Errors
    /// As `Reply::send`; 503 where there is no memory for the content.
    pub(super) async fn send(self, exchange: Exchange, terms: &Terms) -> Result<Sent, Answer> {
        let held = exchange.reserve(self.content.len() as u64);
        let _held = held.ok_or_else(no_room)?;
        terms.wait().await;
        let mut reply = terms.respond(exchange, self.status);
        reply.headers_mut().merge(&self.headers);
        let Some(pace) = self.pace else { return Ok(terms.send(reply, &self.content).await?) };
        tokio::time::sleep(pace.before).await;
        if pace.states_length {
            reply = reply.header(KnownName::CONTENT_LENGTH, self.content.len().to_string());
        }
        let mut writer = reply.stream().await?;
        let mut rest = &self.content[..];
        while !rest.is_empty() && !writer.is_muted() {
            let (piece, more) = rest.split_at(pace.cut.length(rest));
            writer.write(piece).await?;
            if !pace.pause.is_zero() {
                tokio::time::sleep(pace.pause).await;
            }
            rest = more;
        }
        Ok(writer.finish().await?)
    }
}

impl Cut {
    /// The length of the first piece of what is left.
    fn length(self, rest: &[u8]) -> usize {
        match self {
            Self::Lines => rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1),
            Self::Bytes(bytes) => bytes.clamp(1, rest.len()),
        }
    }
}

/// Takes bytes up to a bound.
struct Bounded {
    out: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.out.len() + bytes.len() > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
