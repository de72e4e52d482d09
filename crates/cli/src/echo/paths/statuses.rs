//! `/status/CODE`, or one of several.

use alula::{Answer, KnownName, Status};
use serde_json::json;

use super::{
    asked::Asked,
    made::{JSON, Made, TEXT},
};
use crate::random;

/// Codes of one request at most.
const CODES_MAX: usize = 100;

/// `/status/404`, `/status/200,500` and `/status/200:9,500:1`, by weight.
pub(super) fn status(asked: &Asked<'_>) -> Result<Made, Answer> {
    let codes = asked.path_text("codes")?;
    let choices: Option<Vec<_>> = codes.split(',').take(CODES_MAX).map(choice).collect();
    let chosen = choices.as_deref().and_then(|choices| chosen(choices, random::fraction()));
    described(answered(chosen.ok_or_else(invalid)?)?)
}

/// The status of a final response.
///
/// # Errors
/// 400 if it is none.
pub(super) fn answered(code: u16) -> Result<Status, Answer> {
    // A 1xx ends no exchange: the client would go on waiting (RFC 9110 §15.2).
    Status::new(code).filter(|status| !status.is_interim()).ok_or_else(invalid)
}

fn invalid() -> Answer {
    Answer::new(Status::BAD_REQUEST).detail("Invalid status code")
}

/// A code with its weight.
fn choice(text: &str) -> Option<(u16, f64)> {
    let (code, weight) = text.split_once(':').unwrap_or((text, "1"));
    let weight = weight.trim().parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)?;
    Some((code.trim().parse().ok()?, weight))
}

/// The choice at a part, from 0 to 1, of the sum of all weights.
fn chosen(choices: &[(u16, f64)], part: f64) -> Option<u16> {
    let total: f64 = choices.iter().map(|(_, weight)| weight).sum();
    let mut left = part * total;
    let found = choices.iter().find(|(_, weight)| {
        let is_here = left < *weight;
        left -= weight;
        is_here
    });
    found.or(choices.last()).map(|(code, _)| *code)
}

/// A status with what clients expect beside it.
pub(super) fn described(status: Status) -> Result<Made, Answer> {
    let made = Made::new(status);
    match status.as_u16() {
        301..=303 | 305 | 307 | 308 => made.header(KnownName::LOCATION, "/redirect/1"),
        401 => made.header(KnownName::WWW_AUTHENTICATE, BASIC),
        402 => Ok(Made::of(TEXT, "payment is required\n").status(status)),
        406 => {
            let accept = ["image/webp", "image/svg+xml", "image/jpeg", "image/png", "image/*"];
            let message = "Client did not request a supported media type.";
            Ok(Made::of(JSON, json!({ "message": message, "accept": accept }).to_string()).status(status))
        }
        407 => made.header(KnownName::PROXY_AUTHENTICATE, BASIC),
        418 => Ok(Made::of(TEXT, "this is a teapot (RFC 2324)\n").status(status)),
        _ => Ok(made),
    }
}

/// The challenge of a user's name and password (RFC 7617), with httpbin's realm.
const BASIC: &str = "Basic realm=\"Fake Realm\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide() {
        let choices: Vec<_> = ["200", "500:2", "404:0"].into_iter().filter_map(choice).collect();
        for (part, code) in [(0.0, 200), (0.33, 200), (0.34, 500), (0.999, 500)] {
            assert_eq!(chosen(&choices, part), Some(code), "{part}");
        }
        assert_eq!(chosen(&[], 0.5), None);
        assert_eq!(chosen(&[(204, 0.0)], 0.5), Some(204));
        for text in ["", "a", "200:", "200:x", "200:-1", "200:inf", "200:nan", "70000"] {
            assert_eq!(choice(text), None, "{text}");
        }
    }

    #[test]
    fn codes_of_final_responses_are_answered() {
        for (code, is_answered) in
            [(0, false), (99, false), (100, false), (199, false), (200, true), (599, true)]
        {
            assert_eq!(answered(code).is_ok(), is_answered, "{code}");
        }
    }
}
