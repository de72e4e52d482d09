//! `/redirect/N` and its kin: so many redirects, one after the other.

use alula::{Answer, KnownName, Status};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{asked::Asked, inspection::origin, made::Made};

/// Redirects in a row that can be asked for.
const REDIRECTS_MAX: u32 = 100;

/// `/redirect/N`, by relative references unless `absolute=true`.
pub(super) fn redirect(asked: &Asked<'_>) -> Result<Made, Answer> {
    let is_absolute = asked.parameter("absolute").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if is_absolute { absolute(asked) } else { relative(asked) }
}

/// `/relative-redirect/N`.
pub(super) fn relative(asked: &Asked<'_>) -> Result<Made, Answer> {
    to(&next(asked, "relative-redirect")?)
}

/// `/absolute-redirect/N`.
pub(super) fn absolute(asked: &Asked<'_>) -> Result<Made, Answer> {
    let path = next(asked, "absolute-redirect")?;
    to(&format!("{}{path}", origin(asked)))
}

/// `/redirect-to?url=&status_code=`.
pub(super) fn redirect_to(asked: &Asked<'_>) -> Result<Made, Answer> {
    let missing = || Answer::new(Status::BAD_REQUEST).detail("the query has no url");
    let url = asked.parameter("url").ok_or_else(missing)?;
    let code: u16 = asked.number("status_code", 302)?;
    let status = Status::new(code).filter(|status| status.is_redirection()).unwrap_or(Status::FOUND);
    led(Made::new(status), &url)
}

/// 302 to a reference.
pub(super) fn to(reference: &str) -> Result<Made, Answer> {
    led(Made::new(Status::FOUND), reference)
}

/// An answer that leads to a reference. Characters that no reference may hold are escaped, so that whatever
/// is asked for is a field.
fn led(made: Made, reference: &str) -> Result<Made, Answer> {
    made.header(KnownName::LOCATION, utf8_percent_encode(reference, OUTSIDE).to_string())
}

/// Characters of ASCII that stand in no reference (RFC 3986 §2).
const OUTSIDE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path after this one.
fn next(asked: &Asked<'_>, kind: &str) -> Result<String, Answer> {
    let count: u32 = asked.path_number("count")?;
    match count {
        // The last redirect leads to an answer of its own, as with httpbin.
        1 => Ok("/get".to_owned()),
        2..=REDIRECTS_MAX => Ok(format!("/{kind}/{}", count - 1)),
        _ => {
            let detail = format!("from 1 to {REDIRECTS_MAX} redirects can be asked for");
            Err(Answer::new(Status::BAD_REQUEST).detail(detail))
        }
    }
}
