//! The field `retry-after` (RFC 9110 §10.2.3).

use std::time::{Duration, SystemTime};

/// Returns the wait in seconds, or until a date; nothing if the value is neither.
pub(crate) fn wait(value: &[u8], now: SystemTime) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim_ascii();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than fits is for ever.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_understood() {
        // 1994-11-06 08:49:37, the date of RFC 9110 §5.6.7.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (value, seconds) in [
            (&b"0"[..], Some(0)),
            (b"120", Some(120)),
            (b" 3 ", Some(3)),
            (b"99999999999999999999999", Some(u64::MAX)),
            (b"Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            (b"Sunday, 06-Nov-94 08:49:38 GMT", Some(1)),
            (b"Sun Nov  6 08:49:37 1994", Some(0)),
            (b"Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            (b"", None),
            (b"-1", None),
            (b"1.5", None),
            (b"soon", None),
            (b"\xff", None),
        ] {
            assert_eq!(wait(value, now), seconds.map(Duration::from_secs), "{}", value.escape_ascii());
        }
    }
}
