//! The attribute `expires` of a cookie: dates in all forms that servers send (RFC 6265 §5.1.1).
//!
//! The store reads dates of HTTP only. [`normal`] writes the others as one of those, and leaves out what is
//! no date or no age.

use std::{borrow::Cow, ops::RangeInclusive};

use alula_net::date::MONTHS;

/// A moment in UTC that is a date of the calendar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Moment {
    year: u32,
    /// The month, counted from 0.
    month: usize,
    day: u32,
    time: [u32; 3],
}

/// The years of RFC 6265 §5.1.1 step 5, up to the last one with four digits.
const YEARS: RangeInclusive<u32> = 1601..=9999;

/// Returns the value of `set-cookie` with each `expires` in the form of HTTP, and invalid ones removed.
/// Allocates only where there is one.
pub(super) fn normal(cookie: &str) -> Cow<'_, str> {
    let mut attributes = cookie.split(';').skip(1);
    if !attributes.any(|attribute| is_changed(split(attribute))) {
        return Cow::Borrowed(cookie);
    }
    let mut normal = String::with_capacity(cookie.len());
    for (place, attribute) in cookie.split(';').enumerate() {
        match split(attribute) {
            changed if place > 0 && is_changed(changed) => {
                if let Some(moment) = Moment::read(changed.1).filter(|_| is_date(changed.0)) {
                    normal.push_str(&moment.to_attribute());
                }
            }
            _ => {
                normal.push_str(if place > 0 { ";" } else { "" });
                normal.push_str(attribute);
            }
        }
    }
    Cow::Owned(normal)
}

fn split(attribute: &str) -> (&str, &str) {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    (name.trim(), value.trim())
}

/// Returns true for an attribute to rewrite: a date, or an age without a digit, which the store would take
/// for ever (RFC 6265 §5.2.2).
fn is_changed((name, value): (&str, &str)) -> bool {
    is_date(name) || (name.eq_ignore_ascii_case("max-age") && value.is_empty())
}

fn is_date(name: &str) -> bool {
    name.eq_ignore_ascii_case("expires")
}

impl Moment {
    /// Parses the parts of a date in any order: the first token in the form of a part is that part.
    fn read(text: &str) -> Option<Self> {
        let (mut time, mut day, mut month, mut year) = (None, None, None, None);
        for token in text.as_bytes().split(is_delimiter).filter(|token| !token.is_empty()) {
            let is_taken = take(&mut time, || time_of_day(token))
                || take(&mut day, || number(token, 1..=2))
                || take(&mut month, || month_of(token))
                || take(&mut year, || number(token, 2..=4));
            // Such as the day of the week and the zone, which is UTC whatever it says.
            let _ = is_taken;
        }
        let moment = Self { year: century(year?), month: month?, day: day?, time: time? };
        moment.is_valid().then_some(moment)
    }

    fn is_valid(&self) -> bool {
        let [hour, minute, second] = self.time;
        YEARS.contains(&self.year)
            && (1..=self.days_of_month()).contains(&self.day)
            && (hour < 24 && minute < 60 && second < 60)
    }

    fn days_of_month(&self) -> u32 {
        let year = self.year;
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        match self.month {
            1 if is_leap => 29,
            1 => 28,
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        }
    }

    fn to_attribute(self) -> String {
        let Self { year, month, day, time: [hour, minute, second] } = self;
        let month = MONTHS[month];
        format!("; expires={day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

/// Sets a part that is not known yet. Returns false if it is known, or the token is none.
fn take<T>(known: &mut Option<T>, read: impl FnOnce() -> Option<T>) -> bool {
    if known.is_some() {
        return false;
    }
    *known = read();
    known.is_some()
}

/// Returns true for a `delimiter` of RFC 6265 §5.1.1.
fn is_delimiter(byte: &u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'/' | b';'..=b'@' | b'['..=b'`' | b'{'..=b'~')
}

/// Parses so many digits at the beginning of a token, with no other digit behind them.
fn number(token: &[u8], digits: RangeInclusive<usize>) -> Option<u32> {
    let count = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = digits.contains(&count).then_some(&token[..count])?;
    Some(digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

/// Parses `08:49:37`, each part with one digit or two.
fn time_of_day(token: &[u8]) -> Option<[u32; 3]> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let mut whole = || {
        let part = parts.next().filter(|part| part.iter().all(u8::is_ascii_digit))?;
        number(part, 1..=2)
    };
    let (hour, minute) = (whole()?, whole()?);
    // Something else may follow.
    Some([hour, minute, number(parts.next()?, 1..=2)?])
}

/// Parses a month by its first three letters.
fn month_of(token: &[u8]) -> Option<usize> {
    let name = token.get(..3)?;
    MONTHS.iter().position(|month| month.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns the year of two digits, from 1970 to 2069.
const fn century(year: u32) -> u32 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}
