//! The field `retry-after`: seconds against a number that does not overflow, dates against a calendar that
//! counts the days.

use std::time::{Duration, SystemTime};

use alula_client::fuzzing;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// 2020-01-01.
const NOW: u64 = 1_577_836_800;

/// The bytes as the value of the field.
pub fn retry_after(data: &[u8]) {
    let wait = fuzzing::retry_after(data, SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
    let text = std::str::from_utf8(data).map_or("", str::trim_ascii);
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text
            .bytes()
            .fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        return assert_eq!(wait, Some(Duration::from_secs(seconds)), "{text:?}");
    }
    if let Some(wait) = wait {
        // What is no number is a date, and has a time of day.
        assert!(text.contains(':') && text.len() >= 24 && text.is_ascii(), "{text:?}");
        assert_eq!(wait.subsec_nanos(), 0);
    }
    if let Some(then) = fixdate(text) {
        assert_eq!(wait, Some(Duration::from_secs(then.saturating_sub(NOW))), "{text:?}");
    }
}

/// The seconds since 1970 of a date whose day of the week is right (RFC 9110 §5.6.7), from 1970 to 2399.
fn fixdate(text: &str) -> Option<u64> {
    let parts: Vec<&str> = text.split(' ').collect();
    let [day_name, day, month, year, time, "GMT"] = parts[..] else { return None };
    let number = |text: &str, digits: usize| {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let (day, year) = (number(day, 2)?, number(year, 4)?);
    let clock: Vec<u64> = time.split(':').map(|part| number(part, 2)).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = clock[..] else { return None };
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days_of = |year: u64, month: usize| match month {
        1 => 28 + u64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    };
    let is_date = (1970..2400).contains(&year) && (1..=days_of(year, month)).contains(&day);
    if !is_date || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let years: u64 = (1970..year).map(|year| 365 + u64::from(is_leap(year))).sum();
    let months: u64 = (0..month).map(|month| days_of(year, month)).sum();
    let days = years + months + day - 1;
    // 1970-01-01 was a Thursday.
    let name = ["Thu,", "Fri,", "Sat,", "Sun,", "Mon,", "Tue,", "Wed,"][(days % 7) as usize];
    (name == day_name).then_some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}
