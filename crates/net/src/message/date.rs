//! The `date` field (RFC 9110 §6.6.1), written once a second.

use std::{
    cell::RefCell,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];

/// The names of months in dates (RFC 9110 §5.6.7).
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An IMF-fixdate (RFC 9110 §5.6.7).
pub type Text = [u8; 29];

thread_local! {
    /// The last date, and the time until which it holds.
    static LAST: RefCell<Option<(Instant, Text)>> = const { RefCell::new(None) };
}

/// Returns the present date. Allocates nothing.
pub fn now() -> Text {
    with(Instant::now(), |text| *text)
}

/// Lends the date of an instant that is now, or was a moment ago. The system's clock is read once a second.
/// Allocates nothing.
pub fn with<T>(now: Instant, use_it: impl FnOnce(&Text) -> T) -> T {
    LAST.with_borrow_mut(|last| match last {
        Some((until, text)) if now < *until => use_it(text),
        last => use_it(&last.insert(read(now)).1),
    })
}

/// Makes this thread use one date for years: the length of a date in Huffman code varies, and simulated time
/// has no date.
#[cfg(feature = "simulation")]
pub(crate) fn hold() {
    const YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);
    LAST.set(Some((Instant::now() + YEARS, render(784_111_777))));
}

/// Returns the present date, and the time at which the next second begins.
fn read(now: Instant) -> (Instant, Text) {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = Duration::from_secs(1) - Duration::from_nanos(since_epoch.subsec_nanos().into());
    (now + left, render(since_epoch.as_secs()))
}

fn render(seconds: u64) -> Text {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    text[..3].copy_from_slice(DAYS[(days % 7) as usize]);
    two(&mut text[5..7], day);
    text[8..11].copy_from_slice(MONTHS[month as usize - 1].as_bytes());
    two(&mut text[12..14], year / 100);
    two(&mut text[14..16], year % 100);
    two(&mut text[17..19], of_day / 3_600);
    two(&mut text[20..22], of_day / 60 % 60);
    two(&mut text[23..25], of_day % 60);
    text
}

fn two(at: &mut [u8], number: u64) {
    at[0] = b'0' + (number / 10) as u8;
    at[1] = b'0' + (number % 10) as u8;
}

/// Returns year, month and day of a day counted from 1970-01-01. Years begin in March here, so that the leap
/// day is the last; an era is 400 years.
pub fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{render, with};

    #[test]
    fn writes_known_dates() {
        for (seconds, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            assert_eq!(std::str::from_utf8(&render(seconds)), Ok(text));
        }
    }

    #[test]
    fn lends_the_same_text_for_a_second_at_the_most() {
        let now = Instant::now();
        let first = with(now, |text| *text);
        assert_eq!(first.len(), 29);
        assert!(first.ends_with(b" GMT"));
        assert_eq!(with(now, |text| *text), first);
        let until = super::LAST.with_borrow(|last| last.unwrap().0);
        assert!(until > now && until <= now + Duration::from_secs(1));
        with(until, |_| ());
        assert!(super::LAST.with_borrow(|last| last.unwrap().0) > until);
    }
}
