//! Converts the errors of handlers into answers.
//!
//! Rule: a peer is told what it did wrong (4xx). A failure of the server (5xx) shows its status alone: the
//! cause goes to the log.

pub(crate) mod ended;
pub(crate) mod late;

use std::{borrow::Cow, convert::Infallible, error::Error as StdError, fmt, io};

use alula_fields::{FieldError, FieldSection, IntoName, KnownName, Status};
use alula_net::{Cause, Error, Fault, Overrun, Phase};

use crate::router::ParamError;

/// A complete answer, of a handler that ended with an error.
///
/// Its content is made when it is sent: a problem (RFC 9457) in JSON for peers whose `accept` names JSON,
/// else text. Allocates, once for itself and for what it is given.
///
/// ```
/// use alula::{Answer, Status};
///
/// let answer = Answer::new(Status::CONFLICT).detail("there is a list of this name");
/// assert_eq!(answer.status(), 409);
/// ```
#[derive(Debug)]
pub struct Answer(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: Status,
    headers: FieldSection,
    content: Content,
    cause: Option<Error>,
}

#[derive(Debug, Default)]
enum Content {
    /// The status in words.
    #[default]
    Status,
    Detail(Cow<'static, str>),
    Bytes(Vec<u8>),
}

/// Converts an error of a handler into the answer for the peer.
///
/// ```
/// use alula::{Answer, IntoAnswer, Status};
///
/// enum Fail {
///     NoSuchList(String),
///     Store(std::io::Error),
/// }
///
/// impl IntoAnswer for Fail {
///     fn into_answer(self) -> Answer {
///         match self {
///             Self::NoSuchList(name) => Answer::new(Status::NOT_FOUND).detail(format!("there is no list {name}")),
///             Self::Store(error) => error.into_answer(),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot end with the error `{Self}`",
    label = "`{Self}` is not `IntoAnswer`, which says what the peer gets",
    note = "implement `IntoAnswer` for it, or end with `Answer`, which `?` makes from `alula::Error`, `io::Error`, `Status` and others",
    note = "any error fits into `Box<dyn Error + Send + Sync>`"
)]
#[doc(alias("IntoResponse", "ResponseError", "Responder"))]
pub trait IntoAnswer {
    /// Converts it into an answer.
    fn into_answer(self) -> Answer;
}

impl Answer {
    /// Creates an answer whose content is the status in words.
    pub fn new(status: Status) -> Self {
        let parts = Parts { status, headers: FieldSection::new(), content: Content::default(), cause: None };
        Self(Box::new(parts))
    }

    /// Sets a sentence about the fault of the request.
    #[must_use]
    pub fn detail(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.0.content = Content::Detail(text.into());
        self
    }

    /// Sets this content, bytes or text, unchanged; its `content-type` is among the [headers](Self::header).
    #[must_use]
    pub fn content(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.content = Content::Bytes(bytes.into());
        self
    }

    /// Adds a field. A mistake makes it 500, and the mistake its cause.
    #[must_use]
    pub fn header<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        match self.0.headers.append(name, value) {
            Ok(()) => self,
            Err(mistake) => Self::new(Status::INTERNAL_SERVER_ERROR).because(Error::from(mistake)),
        }
    }

    /// Sets the error behind it, for [`on_error`](crate::ServerBuilder::on_error); the peer does not see it.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Error>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// Returns the status.
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// Returns the added fields.
    pub fn headers(&self) -> &FieldSection {
        &self.0.headers
    }

    /// Returns the fields for changes.
    pub fn headers_mut(&mut self) -> &mut FieldSection {
        &mut self.0.headers
    }

    /// Returns the error behind it.
    pub fn cause(&self) -> Option<&Error> {
        self.0.cause.as_ref()
    }

    /// Returns the headers, with a media type for the content unless they have one, and the content.
    pub(crate) fn into_content(self, takes_json: bool) -> (FieldSection, Vec<u8>) {
        let Parts { status, mut headers, content, .. } = *self.0;
        let (bytes, media_type) = match content {
            Content::Bytes(bytes) => return (headers, bytes),
            Content::Status if takes_json => (problem(status, None), "application/problem+json"),
            Content::Detail(text) if takes_json => (problem(status, Some(&text)), "application/problem+json"),
            Content::Status => (in_words(status), "text/plain; charset=utf-8"),
            Content::Detail(text) => (format!("{text}\n"), "text/plain; charset=utf-8"),
        };
        if !headers.contains(KnownName::CONTENT_TYPE) {
            // It is a value by its form.
            let _ = headers.append(KnownName::CONTENT_TYPE, media_type);
        }
        (headers, bytes.into_bytes())
    }
}

/// Returns the status and its reason as a line of text, such as `404 Not Found`.
fn in_words(status: Status) -> String {
    match status.reason() {
        Some(reason) => format!("{status} {reason}\n"),
        None => format!("{status}\n"),
    }
}

/// Writes a problem in JSON (RFC 9457 §3).
fn problem(status: Status, detail: Option<&str>) -> String {
    let mut text = format!("{{\"status\":{status},\"title\":\"{}\"", status.reason().unwrap_or_default());
    if let Some(detail) = detail {
        text.push_str(",\"detail\":\"");
        detail.chars().for_each(|it| push_escaped(&mut text, it));
        text.push('"');
    }
    text.push_str("}\n");
    text
}

/// Adds a character of a JSON string (RFC 8259 §7).
fn push_escaped(text: &mut String, character: char) {
    use fmt::Write as _;
    match character {
        '"' | '\\' => text.extend(['\\', character]),
        control if control < ' ' => {
            let _ = write!(text, "\\u{:04x}", u32::from(control));
        }
        other => text.push(other),
    }
}

impl IntoAnswer for Answer {
    fn into_answer(self) -> Answer {
        self
    }
}

impl IntoAnswer for Status {
    fn into_answer(self) -> Answer {
        Answer::new(self)
    }
}

/// Answers with a status, and a sentence for the peer.
impl<T: Into<Cow<'static, str>>> IntoAnswer for (Status, T) {
    fn into_answer(self) -> Answer {
        Answer::new(self.0).detail(self.1)
    }
}

impl IntoAnswer for Infallible {
    fn into_answer(self) -> Answer {
        match self {}
    }
}

/// Answers 4xx for a failure that the peer caused, 502 or 504 for a failed call to another server, and 500
/// otherwise.
impl IntoAnswer for Error {
    fn into_answer(self) -> Answer {
        let status = status_of(&self);
        let answer = match self.cause() {
            Cause::TooLong(bytes) => {
                Answer::new(status).detail(format!("the content is longer than {bytes} bytes"))
            }
            // 415 says what would be taken (RFC 9110 §12.5.1).
            Cause::MediaType(wanted) if status.is_client_error() => {
                Answer::new(status).detail(self.cause().to_string()).header(KnownName::ACCEPT, wanted)
            }
            // A path that leads nowhere is no failure of ours.
            Cause::Io(..) if status.is_client_error() => return Answer::new(status),
            cause if status.is_client_error() => Answer::new(status).detail(cause.to_string()),
            _ => Answer::new(status),
        };
        answer.because(self)
    }
}

fn status_of(error: &Error) -> Status {
    match (error.cause(), error.fault()) {
        (Cause::Timeout, _) if error.asked().is_some() => Status::GATEWAY_TIMEOUT,
        _ if error.asked().is_some() => Status::BAD_GATEWAY,
        (Cause::TooLong(_) | Cause::Growth(_), _) => Status::CONTENT_TOO_LARGE,
        (Cause::MediaType(_), _) => Status::UNSUPPORTED_MEDIA_TYPE,
        (Cause::Unreadable(_) | Cause::Coding(_), _) => Status::BAD_REQUEST,
        (Cause::Overrun(overrun), _) if *overrun == Overrun::SLOW_CONTENT => Status::REQUEST_TIMEOUT,
        (_, Fault::Peer) => Status::BAD_REQUEST,
        // A file that could not be opened to be sent.
        (Cause::Io(kind, _), _) if error.phase() == Phase::Build => status_of_io(*kind),
        _ => Status::INTERNAL_SERVER_ERROR,
    }
}

/// Answers 404 for a missing file, 403 for one without permission, and 500 otherwise.
impl IntoAnswer for io::Error {
    fn into_answer(self) -> Answer {
        match status_of_io(self.kind()) {
            Status::INTERNAL_SERVER_ERROR => Error::other(self).into_answer(),
            status => Answer::new(status),
        }
    }
}

fn status_of_io(kind: io::ErrorKind) -> Status {
    match kind {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Status::NOT_FOUND,
        io::ErrorKind::PermissionDenied => Status::FORBIDDEN,
        _ => Status::INTERNAL_SERVER_ERROR,
    }
}

/// Answers for a field that the handler could not send.
impl IntoAnswer for FieldError {
    fn into_answer(self) -> Answer {
        Error::from(self).into_answer()
    }
}

impl IntoAnswer for ParamError {
    fn into_answer(self) -> Answer {
        if self.is_of_program() {
            return Error::other(self).into_answer();
        }
        Answer::new(Status::BAD_REQUEST).detail(self.to_string())
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        error.into_answer()
    }
}

impl From<FieldError> for Answer {
    fn from(error: FieldError) -> Self {
        error.into_answer()
    }
}

impl From<ParamError> for Answer {
    fn from(error: ParamError) -> Self {
        error.into_answer()
    }
}

#[cfg(feature = "query")]
impl From<crate::exchange::query::QueryError> for Answer {
    fn from(error: crate::exchange::query::QueryError) -> Self {
        error.into_answer()
    }
}

impl From<io::Error> for Answer {
    fn from(error: io::Error) -> Self {
        error.into_answer()
    }
}

impl From<Status> for Answer {
    fn from(status: Status) -> Self {
        status.into_answer()
    }
}

impl<T: Into<Cow<'static, str>>> From<(Status, T)> for Answer {
    fn from(answer: (Status, T)) -> Self {
        answer.into_answer()
    }
}

/// Answers errors of Alula's calls as without the box, and all others with 500, without showing them to the
/// peer.
impl IntoAnswer for Box<dyn StdError + Send + Sync> {
    fn into_answer(self) -> Answer {
        let answer = unboxed::<Error>(self).or_else(unboxed::<ParamError>).or_else(unboxed::<FieldError>);
        #[cfg(feature = "query")]
        let answer = answer.or_else(unboxed::<crate::exchange::query::QueryError>);
        answer.unwrap_or_else(|other| Error::other(other).into_answer())
    }
}

/// Converts an error to its answer, if it has this type.
fn unboxed<E: StdError + IntoAnswer + 'static>(
    error: Box<dyn StdError + Send + Sync>,
) -> Result<Answer, Box<dyn StdError + Send + Sync>> {
    error.downcast::<E>().map(|error| error.into_answer())
}

impl From<Box<dyn StdError + Send + Sync>> for Answer {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        error.into_answer()
    }
}
