//! Requests that fail: the status and the text that clients know.

use std::borrow::Cow;
use std::fmt;

use alula::{Answer, FieldError, IntoAnswer, KnownName, ParamError, Status};

use crate::budget::{Spent, TooSlow};
use crate::engine::{EngineError, Level};

/// The seconds after which a request that found no room, or no replica, may be sent again.
const RETRY_AFTER: &str = "1";

/// The reason for which a request fails.
#[derive(Debug)]
pub(in crate::http) enum Fail {
    /// A text for the client.
    Text(Status, Cow<'static, str>),
    /// JSON for the client.
    Json(Status, serde_json::Value),
    /// The status alone, as a page.
    Page(Status),
    /// A method that the path does not have, with the methods that it has.
    Method(String),
    /// The engine failed.
    Engine(EngineError),
    /// The content could not be read, or the response not be sent.
    Exchange(alula::Error),
    /// A capture of the path, or a field, is not valid.
    Answer(Answer),
}

pub(in crate::http) type Outcome = Result<alula::Sent, Fail>;

impl Fail {
    pub(in crate::http) fn text(status: Status, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(status, text.into())
    }

    pub(in crate::http) fn bad_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(Status::BAD_REQUEST, text.into())
    }

    pub(in crate::http) fn not_found() -> Self {
        Self::text(Status::NOT_FOUND, "not found\n")
    }

    /// Returns the 404 for a bucket type that was not made.
    pub(in crate::http) fn unknown_type(bucket_type: &[u8]) -> Self {
        let text = format!("Unknown bucket type: {}\n", Cut(bucket_type));
        Self::text(Status::NOT_FOUND, text)
    }
}

impl IntoAnswer for Fail {
    fn into_answer(self) -> Answer {
        match self {
            Self::Text(status, text) => content(status, "text/plain", text.into_owned()),
            Self::Json(status, json) => content(status, "application/json", json.to_string()),
            Self::Page(status) => content(status, "text/html", page(status)),
            Self::Method(allowed) => {
                let status = Status::METHOD_NOT_ALLOWED;
                content(status, "text/html", page(status)).header("allow", allowed)
            }
            Self::Engine(error) => of_engine(error),
            Self::Exchange(error) => error.into_answer(),
            Self::Answer(answer) => answer,
        }
    }
}

/// A part of a request in a text for its client: all of it if it is short, else its beginning.
pub(in crate::http) struct Cut<'a>(pub(in crate::http) &'a [u8]);

impl Cut<'_> {
    /// The bytes that are shown. Names and numbers that people write are shorter.
    const BYTES_MAX: usize = 128;
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_at_checked(Self::BYTES_MAX) {
            Some((start, rest)) if !rest.is_empty() => {
                // The last character may have been cut.
                let start = String::from_utf8_lossy(start);
                write!(f, "{}...", start.trim_end_matches(char::REPLACEMENT_CHARACTER))
            }
            _ => f.write_str(&String::from_utf8_lossy(self.0)),
        }
    }
}

fn content(status: Status, media_type: &str, content: String) -> Answer {
    let answer = Answer::new(status).header(KnownName::CONTENT_TYPE, media_type).content(content);
    match status {
        Status::SERVICE_UNAVAILABLE => answer.header(KnownName::RETRY_AFTER, RETRY_AFTER),
        _ => answer,
    }
}

/// Converts an error of the engine; a text that clients compare is Riak's where Riak has one.
fn of_engine(error: EngineError) -> Answer {
    let (status, text) = match &error {
        EngineError::Unavailable(shortage) if shortage.level == Level::W => {
            (Status::SERVICE_UNAVAILABLE, "Too Many write failures to satisfy W/DW\n".to_owned())
        }
        EngineError::Unavailable(shortage) => (Status::SERVICE_UNAVAILABLE, format!("{shortage}\n")),
        EngineError::TimedOut => (Status::SERVICE_UNAVAILABLE, "request timed out\n".to_owned()),
        EngineError::Busy | EngineError::WritesRefused | EngineError::Reopening => {
            (Status::SERVICE_UNAVAILABLE, format!("{error}\n"))
        }
        EngineError::NoRoom => (Status::INSUFFICIENT_STORAGE, format!("{error}\n")),
        EngineError::Unknown(_) | EngineError::Unreadable(_) => {
            (Status::INTERNAL_SERVER_ERROR, format!("Error:\n{error}\n"))
        }
    };
    let answer = content(status, "text/plain", text);
    match error {
        // The engine says once that it began, and not for each request.
        EngineError::WritesRefused | EngineError::Reopening | EngineError::NoRoom => answer,
        error => answer.because(alula::Error::other(error)),
    }
}

fn page(status: Status) -> String {
    let reason = status.reason().unwrap_or_default();
    format!("<html><head><title>{status} {reason}</title></head><body><h1>{reason}</h1></body></html>")
}

impl From<EngineError> for Fail {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<Spent> for Fail {
    fn from(_: Spent) -> Self {
        Self::text(Status::SERVICE_UNAVAILABLE, "too many bytes are under way\n")
    }
}

impl From<TooSlow> for Fail {
    fn from(_: TooSlow) -> Self {
        Self::text(Status::REQUEST_TIMEOUT, "the content came too slowly while others waited for its room\n")
    }
}

impl From<alula::Error> for Fail {
    fn from(error: alula::Error) -> Self {
        Self::Exchange(error)
    }
}

impl From<ParamError> for Fail {
    fn from(error: ParamError) -> Self {
        Self::Answer(error.into())
    }
}

impl From<FieldError> for Fail {
    fn from(error: FieldError) -> Self {
        Self::Answer(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_that_came_too_early_may_be_sent_again() {
        for error in [EngineError::Reopening, EngineError::WritesRefused, EngineError::Busy] {
            let answer = of_engine(error);
            assert_eq!(answer.status(), Status::SERVICE_UNAVAILABLE);
            assert_eq!(answer.headers().get(KnownName::RETRY_AFTER), Some(RETRY_AFTER.as_bytes()));
        }
    }
}
