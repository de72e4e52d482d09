//! A request to a path that has an answer of its own, with its content.

use std::{str::FromStr, time::Duration};

use alula::{Answer, Exchange, FieldSection, KnownName, Reservation, Status};
use url::form_urlencoded;

use super::form::Form;
use crate::echo::terms::RETRY_AFTER;

/// Bytes of content that a path describes at most.
pub(super) const CONTENT_MAX: usize = 4 * 1024 * 1024;
/// Bytes of memory for a byte of content that is described: itself, values made of it, and their JSON.
const MEMORY_FACTOR: u64 = 80;
/// Bytes of memory for any request that is described.
const MEMORY_BASE: u64 = 1024 * 1024;

/// A request whose content has come.
pub(super) struct Asked<'e> {
    pub(super) exchange: &'e Exchange,
    /// Its content, empty where the path does not ask for it, and where it is a form of many parts.
    pub(super) content: &'e [u8],
    /// The form of many parts that it brought.
    pub(super) parts: Option<&'e Form>,
}

/// Content that is held, and the memory for what is made of it.
pub(super) struct Held {
    pub(super) content: Vec<u8>,
    pub(super) parts: Option<Form>,
    memory: Memory,
}

impl Held {
    /// Reads the content of a request, which its route bounds.
    ///
    /// # Errors
    /// 413 for too much of it, 503 where there is no memory for it, 400 for a malformed form.
    pub(super) async fn read(exchange: &mut Exchange, takes_forms: bool) -> Result<Self, Answer> {
        let mut held = Self { content: Vec::new(), parts: None, memory: Memory::of(exchange)? };
        // Content of another media type is taken as it is.
        if takes_forms && let Ok(parts) = exchange.multipart() {
            held.parts = Some(Form::of_parts(parts, &mut held.memory).await?);
        }
        let body = exchange.body();
        while let Some(chunk) = body.chunk().await? {
            held.memory.append(&mut held.content, chunk)?;
        }
        Ok(held)
    }
}

/// The memory that is charged for content, and for what is made of it.
pub(super) struct Memory {
    reservation: Reservation,
    content_bytes: u64,
}

impl Memory {
    /// # Errors
    /// 503.
    pub(super) fn of(exchange: &Exchange) -> Result<Self, Answer> {
        let reservation = exchange.reserve(MEMORY_BASE).ok_or_else(no_room)?;
        Ok(Self { reservation, content_bytes: 0 })
    }

    /// Appends more of the content, once it is charged: a description takes many times its memory.
    ///
    /// # Errors
    /// 503.
    pub(super) fn append(&mut self, content: &mut Vec<u8>, chunk: &[u8]) -> Result<(), Answer> {
        self.content_bytes += chunk.len() as u64;
        if !self.reservation.resize(MEMORY_BASE + self.content_bytes * MEMORY_FACTOR) {
            return Err(no_room());
        }
        content.extend_from_slice(chunk);
        Ok(())
    }
}

/// Creates the answer 503, for want of memory.
pub(super) fn no_room() -> Answer {
    Answer::new(Status::SERVICE_UNAVAILABLE).header(KnownName::RETRY_AFTER, RETRY_AFTER)
}

/// Reads the content of a request, which its route bounds, and keeps nothing of it.
///
/// # Errors
/// 413 for too much of it.
pub(super) async fn discard(exchange: &mut Exchange) -> Result<(), Answer> {
    let body = exchange.body();
    while body.chunk().await?.is_some() {}
    Ok(())
}

impl Asked<'_> {
    /// The fields of the request.
    pub(super) fn headers(&self) -> &FieldSection {
        self.exchange.request().headers()
    }

    /// The pairs of the query.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let query = self.exchange.request().query().unwrap_or_default();
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// The value of a parameter of the query, whatever the case of its name.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        self.pairs().into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The number that a parameter of the query stands for, and another one where it is missing.
    ///
    /// # Errors
    /// 400 if it is none.
    pub(super) fn number<T: FromStr>(&self, name: &str, otherwise: T) -> Result<T, Answer> {
        let Some(value) = self.parameter(name) else { return Ok(otherwise) };
        let complain = |_| Answer::new(Status::BAD_REQUEST).detail(format!("{name} is no number"));
        value.trim().parse().map_err(complain)
    }

    /// The number of seconds that a parameter of the query stands for, from none to ten.
    ///
    /// # Errors
    /// 400 if it is no number.
    pub(super) fn seconds(&self, name: &str, otherwise: f64) -> Result<Duration, Answer> {
        seconds(self.number(name, otherwise)?)
            .ok_or_else(|| Answer::new(Status::BAD_REQUEST).detail(format!("{name} is no time")))
    }

    /// The number in the path.
    ///
    /// # Errors
    /// 404 if it is none: that path is not there.
    pub(super) fn path_number<T: FromStr>(&self, name: &str) -> Result<T, Answer> {
        let complain = |_| Answer::new(Status::NOT_FOUND).detail("a number stands in this path");
        self.exchange.param(name)?.parse().map_err(complain)
    }

    /// The text in the path.
    ///
    /// # Errors
    /// 400 if it has a malformed escape or is no UTF-8.
    pub(super) fn path_text(&self, name: &str) -> Result<String, Answer> {
        Ok(self.exchange.param(name)?.into_owned())
    }
}

/// The longest time for which a request can have an answer put off.
pub(super) const SECONDS_MAX: f64 = 10.0;

/// A time of so many seconds, at most [`SECONDS_MAX`]; nothing for what is no time.
pub(super) fn seconds(number: f64) -> Option<Duration> {
    // NaN would count as the longest time: `min` passes it over.
    let number = if number.is_nan() { number } else { number.min(SECONDS_MAX) };
    Duration::try_from_secs_f64(number).ok()
}
