//! Priorities (RFC 9218 §4), against a reader of the simplest dictionaries, and against themselves.

use alula_h2::Priority;

/// The bytes as the value of a `priority` field.
pub fn priority(data: &[u8]) {
    let parsed = Priority::parse(data);
    if let Some(expected) = naive(data) {
        assert_eq!(parsed, Some(expected), "{:?}", String::from_utf8_lossy(data));
    }
    if let Some(priority) = parsed {
        assert_eq!(Priority::parse(priority.to_string().as_bytes()), Some(priority));
        the_last_one_counts(data, priority);
    }
}

fn the_last_one_counts(data: &[u8], priority: Priority) {
    let comma: &[u8] = if data.iter().all(|byte| *byte == b' ') { b"" } else { b", " };
    for (member, expected) in [
        (&b"u=0"[..], Priority { urgency: 0, ..priority }),
        (b"u=9", Priority { urgency: 3, ..priority }),
        (b"i", Priority { incremental: true, ..priority }),
        (b"i=?0;x=(", Priority { incremental: false, ..priority }),
    ] {
        let parsed = Priority::parse(&[data, comma, member].concat());
        let is_whole = !member.ends_with(b"(");
        assert_eq!(parsed, is_whole.then_some(expected), "{:?}", String::from_utf8_lossy(data));
    }
}

/// What `u` and `i` say where every member is a short integer, a boolean or nothing; `None` for all else.
fn naive(data: &[u8]) -> Option<Priority> {
    let text = std::str::from_utf8(data).ok()?;
    let mut priority = Priority::default();
    for member in text.split(',') {
        let (key, value) =
            member.trim_matches(' ').split_once('=').unwrap_or((member.trim_matches(' '), "?1"));
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        if value.len() > 15 {
            return None;
        }
        let number = value.parse::<u8>().ok().filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()));
        let truth = ["?0", "?1"].iter().position(|known| *known == value);
        if number.is_none() && truth.is_none() {
            return None;
        }
        match key {
            "u" => priority.urgency = number.filter(|urgency| *urgency < 8).unwrap_or(3),
            "i" => priority.incremental = truth == Some(1),
            _ => {}
        }
    }
    Some(priority)
}
