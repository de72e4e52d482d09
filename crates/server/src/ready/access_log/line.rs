//! Writes a line of an access log.

use std::{
    fmt::{self, Display, Write as _},
    io::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use alula_net::date::{MONTHS, civil};

use crate::{ready::LogFormat, router::Ended};

/// The most bytes of a text in a line.
const TEXT_BYTES_MAX: usize = 256;

/// The status in lines about requests whose client left before there was one. No server sends it; nginx logs
/// it, and programs that read logs know it.
const CLIENT_LEFT: u16 = 499;

/// Writes the line of a request that has just ended, with its line end, and the text of its failure. To write
/// to memory does not fail.
pub(super) fn write(
    line: &mut Vec<u8>,
    format: LogFormat,
    ended: &Ended<'_>,
    failure: Option<&str>,
    now: SystemTime,
) {
    let arrived = now.checked_sub(ended.duration()).unwrap_or(now);
    let since_epoch = arrived.duration_since(UNIX_EPOCH).unwrap_or_default();
    let _ = match format {
        LogFormat::Common => common(line, ended, since_epoch),
        LogFormat::Combined => combined(line, ended, since_epoch),
        LogFormat::Json => json(line, ended, failure, since_epoch),
    };
    line.push(b'\n');
}

fn common(line: &mut Vec<u8>, ended: &Ended<'_>, since_epoch: Duration) -> std::io::Result<()> {
    let address = ended.client_address();
    let user = User(ended.user().unwrap_or_default());
    write!(line, "{address} - {user} [{}] \"", ClfTime(since_epoch))?;
    write!(line, "{} {} {}\" ", Log(ended.method()), Log(ended.target()), ended.version())?;
    match ended.status() {
        Some(status) => write!(line, "{status} {}", ended.sent()),
        None if ended.client_left() => write!(line, "{CLIENT_LEFT} {}", ended.sent()),
        None => write!(line, "- {}", ended.sent()),
    }
}

fn combined(line: &mut Vec<u8>, ended: &Ended<'_>, since_epoch: Duration) -> std::io::Result<()> {
    common(line, ended, since_epoch)?;
    let or_dash = |text| if <str>::is_empty(text) { "-" } else { text };
    write!(line, " \"{}\" \"{}\"", Log(or_dash(ended.referer())), Log(or_dash(ended.user_agent())))
}

fn json(
    line: &mut Vec<u8>,
    ended: &Ended<'_>,
    failure: Option<&str>,
    since_epoch: Duration,
) -> std::io::Result<()> {
    write!(line, "{{\"time\":\"{}\"", JsonTime(since_epoch))?;
    write!(line, ",\"peer\":\"{}\",\"client\":\"{}\"", ended.peer(), ended.client_address())?;
    write!(line, ",\"user\":{}", OrNull(ended.user().unwrap_or_default()))?;
    write!(line, ",\"method\":{},\"target\":{}", Json(ended.method()), Json(ended.target()))?;
    write!(line, ",\"version\":\"{}\",\"authority\":{}", ended.version(), OrNull(ended.authority()))?;
    write!(line, ",\"route\":{}", OrNull(ended.route().unwrap_or_default()))?;
    write!(line, ",\"request_id\":{}", OrNull(ended.request_id().unwrap_or_default()))?;
    match ended.status() {
        Some(status) => write!(line, ",\"status\":{status}")?,
        None => write!(line, ",\"status\":null")?,
    }
    write!(line, ",\"received\":{},\"sent\":{}", ended.received(), ended.sent())?;
    write!(line, ",\"seconds\":{}", Seconds(ended.duration()))?;
    match ended.until_head() {
        Some(time) => write!(line, ",\"until_head\":{}", Seconds(time))?,
        None => write!(line, ",\"until_head\":null")?,
    }
    write!(line, ",\"client_left\":{}", ended.client_left())?;
    write!(line, ",\"referer\":{},\"user_agent\":{}", OrNull(ended.referer()), OrNull(ended.user_agent()))?;
    match failure {
        Some(failure) => write!(line, ",\"failure\":{}}}", Json(failure)),
        None => write!(line, ",\"failure\":null}}"),
    }
}

/// A time since the epoch as `21/Nov/2026:15:14:35 +0000`.
pub(super) struct ClfTime(pub(super) Duration);

impl Display for ClfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.as_secs() / 86_400);
        let (hour, minute, second) = time_of_day(self.0);
        let month = MONTHS[month as usize - 1];
        write!(f, "{day:02}/{month}/{year}:{hour:02}:{minute:02}:{second:02} +0000")
    }
}

/// A time since the epoch as `2026-11-21T15:14:35.123456Z` (RFC 3339).
pub(super) struct JsonTime(pub(super) Duration);

impl Display for JsonTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.as_secs() / 86_400);
        let (hour, minute, second) = time_of_day(self.0);
        let micros = self.0.subsec_micros();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

const fn time_of_day(since_epoch: Duration) -> (u64, u64, u64) {
    let second = since_epoch.as_secs() % 86_400;
    (second / 3_600, second / 60 % 60, second % 60)
}

/// Seconds with six digits after the point.
struct Seconds(Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0.as_secs(), self.0.subsec_micros())
    }
}

/// The character for omitted text. Peers may send it as well, and a log says no more of it.
const NOT_SHOWN: char = '…';

/// Text in the common log format: all but visible ASCII and the mark for omitted text becomes `\xHH`, and
/// quotes and backslashes get a backslash.
pub(super) struct Log<T>(pub(super) T);

impl<T: Display> Display for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bounded(f, &self.0, |f, text| {
            text.chars().try_for_each(|character| match character {
                '"' | '\\' => write!(f, "\\{character}"),
                ' '..='~' | NOT_SHOWN => f.write_char(character),
                _ => {
                    let bytes = &mut [0; 4];
                    character.encode_utf8(bytes).bytes().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
                }
            })
        })
    }
}

/// A user in the common log format: a hyphen if there is none; spaces, which would end it, are escaped.
struct User<'a>(&'a str);

impl Display for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_char('-');
        }
        // Spaces divide the columns of a line.
        let mut words = self.0.split(' ');
        write!(f, "{}", Log(words.next().unwrap_or_default()))?;
        words.try_for_each(|word| write!(f, "\\x20{}", Log(word)))
    }
}

/// A JSON string (RFC 8259 §7); all but visible ASCII and the mark for omitted text is escaped.
pub(super) struct Json<T>(pub(super) T);

impl<T: Display> Display for Json<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        write_bounded(f, &self.0, |f, text| {
            text.chars().try_for_each(|character| match character {
                '"' | '\\' => write!(f, "\\{character}"),
                ' '..='~' | NOT_SHOWN => f.write_char(character),
                _ => {
                    character.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))
                }
            })
        })?;
        f.write_char('"')
    }
}

/// A JSON string, or null for an empty text.
pub(super) struct OrNull<'a>(pub(super) &'a str);

impl Display for OrNull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("null") } else { Json(self.0).fmt(f) }
    }
}

/// Writes the beginning of a text, escaped piece by piece.
fn write_bounded(
    f: &mut fmt::Formatter<'_>,
    text: impl Display,
    escape: impl FnMut(&mut fmt::Formatter<'_>, &str) -> fmt::Result,
) -> fmt::Result {
    write!(Bounded { f, left: TEXT_BYTES_MAX, escape }, "{text}")
}

struct Bounded<'a, 'f, E> {
    f: &'a mut fmt::Formatter<'f>,
    left: usize,
    escape: E,
}

impl<E: FnMut(&mut fmt::Formatter<'_>, &str) -> fmt::Result> fmt::Write for Bounded<'_, '_, E> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = (0..=self.left.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let text = &text[..end.unwrap_or(0)];
        self.left -= text.len();
        (self.escape)(self.f, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_peers_is_escaped() {
        let hostile = "a\"b\\c\n\r\x1b[31m\u{9b}ö\u{2028}\u{1f600}\x7f";
        let log = Log(hostile).to_string();
        assert_eq!(log, r#"a\"b\\c\x0a\x0d\x1b[31m\xc2\x9b\xc3\xb6\xe2\x80\xa8\xf0\x9f\x98\x80\x7f"#);
        let json = Json(hostile).to_string();
        assert_eq!(json, r#""a\"b\\c\u000a\u000d\u001b[31m\u009b\u00f6\u2028\ud83d\ude00\u007f""#);
        assert_eq!(Log("é".repeat(300)).to_string().len(), TEXT_BYTES_MAX * 4);
        assert_eq!(Log("x".repeat(257)).to_string().len(), TEXT_BYTES_MAX);
        assert_eq!(OrNull("").to_string(), "null");
        let hidden = "/a?b=…";
        assert_eq!(
            (Log(hidden).to_string(), Json(hidden).to_string()),
            (hidden.to_owned(), format!("\"{hidden}\""))
        );
    }
}
