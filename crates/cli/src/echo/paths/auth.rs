//! `/basic-auth`, `/hidden-basic-auth` and `/bearer`: who asks, in the schemes of RFC 7617 and RFC 6750.

use alula::{Answer, KnownName, Status};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use super::{asked::Asked, made::Made, statuses};

/// `/basic-auth/USER/PASSWORD`.
pub(super) fn basic(asked: &Asked<'_>) -> Result<Made, Answer> {
    basic_or(asked, Status::UNAUTHORIZED)
}

/// `/hidden-basic-auth/USER/PASSWORD`: 404 in place of the challenge.
pub(super) fn hidden(asked: &Asked<'_>) -> Result<Made, Answer> {
    basic_or(asked, Status::NOT_FOUND)
}

fn basic_or(asked: &Asked<'_>, refusal: Status) -> Result<Made, Answer> {
    let (user, password) = (asked.path_text("user")?, asked.path_text("password")?);
    let wanted = format!("{user}:{password}");
    let given = credentials(asked, "basic").and_then(|text| STANDARD.decode(text).ok());
    match given.as_deref() == Some(wanted.as_bytes()) {
        true => authenticated(&user),
        false => statuses::described(refusal),
    }
}

/// `/bearer`: any token.
pub(super) fn bearer(asked: &Asked<'_>) -> Result<Made, Answer> {
    match credentials(asked, "bearer") {
        Some(token) => Made::json(&json!({ "authenticated": true, "token": token }), asked.headers().bytes()),
        None => Made::new(Status::UNAUTHORIZED).header(KnownName::WWW_AUTHENTICATE, "Bearer"),
    }
}

/// 200 with the user who asks.
pub(super) fn authenticated(user: &str) -> Result<Made, Answer> {
    Made::json(&json!({ "authenticated": true, "user": user }), user.len())
}

/// The credentials of a scheme (RFC 9110 §11.4).
pub(super) fn credentials<'a>(asked: &'a Asked<'_>, scheme: &str) -> Option<&'a str> {
    let (own, rest) = asked.headers().text(KnownName::AUTHORIZATION)?.split_once(' ')?;
    // Schemes are compared without case (RFC 9110 §11.1).
    own.eq_ignore_ascii_case(scheme).then_some(rest.trim())
}
