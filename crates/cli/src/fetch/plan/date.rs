//! Dates for `-z`: those of HTTP, and other forms that curl reads.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Time zones by name, in hours east of Greenwich (RFC 5322 §4.3, and two of Europe).
const ZONES: [(&str, i64); 14] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("cet", 1),
    ("cest", 2),
];

/// The last second whose year has four digits.
const LATEST: i64 = 253_402_300_799;

/// Parses a date; returns nothing if it is none. It is in Greenwich's time unless it says otherwise.
pub(in crate::fetch) fn read(text: &str) -> Option<SystemTime> {
    let text = text.trim().to_ascii_lowercase();
    let mut date = Date::default();
    let mut rest = &*iso(&text).unwrap_or(text);
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let is_same = |character: char| match first.is_ascii_digit() {
            true => character.is_ascii_digit() || character == ':',
            false => character.is_ascii_alphabetic(),
        };
        if !first.is_ascii_alphanumeric() {
            if !first.is_ascii_whitespace() && !"-+,/.".contains(first) {
                return None;
            }
            (before, rest) = (Some(first), &rest[1..]);
            continue;
        }
        let (token, others) = rest.split_at(rest.find(|character| !is_same(character)).unwrap_or(rest.len()));
        date.take(token, before)?;
        (before, rest) = (None, others);
    }
    date.seconds()
}

/// Parses `1994-11-06`, alone or before `T08:49:37Z`, or `19941106`.
fn iso(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let parts: Vec<&str> = date.split('-').collect();
    let are_digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_iso = are_digits && parts.iter().map(|part| part.len()).eq([4, 2, 2]);
    is_iso.then(|| format!("{} {}", parts.concat(), rest.strip_prefix('t').unwrap_or(rest)))
}

/// The parts of a date that are known.
#[derive(Default)]
struct Date {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    second_of_day: Option<i64>,
    /// The offset of the zone in seconds east of Greenwich.
    zone: Option<i64>,
}

impl Date {
    /// Takes a word or a number, with the sign before it; returns nothing if it does not fit.
    fn take(&mut self, token: &str, before: Option<char>) -> Option<()> {
        if token.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return self.word(token);
        }
        if token.contains(':') {
            return put(&mut self.second_of_day, time(token)?);
        }
        let number: i64 = token.parse().ok()?;
        match (token.len(), before) {
            (4, Some(sign @ ('+' | '-'))) if self.second_of_day.is_some() && number <= 1400 => {
                let seconds = (number / 100 * 60 + number % 100) * 60;
                put(&mut self.zone, if sign == '-' { -seconds } else { seconds })
            }
            (8, _) if self.year.is_none() && self.month.is_none() && self.day.is_none() => {
                self.year = Some(number / 10_000);
                self.month = Some(number / 100 % 100);
                self.day = Some(number % 100);
                Some(())
            }
            _ if self.day.is_none() && (1..=31).contains(&number) => put(&mut self.day, number),
            (2, _) => put(&mut self.year, if number > 70 { 1900 + number } else { 2000 + number }),
            _ => put(&mut self.year, number),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let short = word.get(..3).unwrap_or(word);
        if let Some(month) = MONTHS.iter().position(|month| *month == short) {
            return put(&mut self.month, month as i64 + 1);
        }
        if DAYS.contains(&short) {
            return Some(());
        }
        let (_, hours) = ZONES.iter().find(|(zone, _)| *zone == word)?;
        put(&mut self.zone, hours * 3600)
    }

    fn seconds(self) -> Option<SystemTime> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let of_day = self.second_of_day.unwrap_or(0) - self.zone.unwrap_or(0);
        let seconds = days(year, month, day) * 86_400 + of_day;
        let seconds = (0..=LATEST).contains(&seconds).then_some(seconds as u64)?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }
}

/// Sets a part that was not known before.
fn put(part: &mut Option<i64>, value: i64) -> Option<()> {
    let is_new = part.is_none();
    *part = Some(value);
    is_new.then_some(())
}

/// Parses `8:49` or `08:49:37`, in seconds.
fn time(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    (hour < 24 && minute < 60 && second <= 60).then_some((hour * 60 + minute) * 60 + second)
}

/// Returns the days since 1970 in the Gregorian calendar. Years are counted from March on, so that a leap day
/// is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Nov  6 08:49:37 1994", Some(784_111_777)),
            ("1994 Nov 6 8:49:37", Some(784_111_777)),
            ("GMT 08:49:37 06-Nov-94 Sunday", Some(784_111_777)),
            ("6 Nov 1994 09:49:37 +0100", Some(784_111_777)),
            ("6 Nov 1994 03:49:37 EST", Some(784_111_777)),
            ("Sun, 12 Sep 2004 15:05:58 -0700", Some(1_095_026_758)),
            ("19941106 08:49:37", Some(784_111_777)),
            ("1994-11-06T08:49:37Z", Some(784_111_777)),
            ("1994-11-06", Some(784_080_000)),
            ("19941106", Some(784_080_000)),
            ("29 Feb 2024", Some(1_709_164_800)),
            ("1 Mar 2024", Some(1_709_251_200)),
            ("1 Jan 1970", Some(0)),
            ("31 Dec 1969", None),
            ("6 Nov", None),
            ("soon", None),
            ("index.html", None),
            ("1994-11-06 25:00", None),
            ("6 Nov 1994 7", None),
            ("1994_11_06", None),
            ("é 6 Nov 1994", None),
            ("", None),
        ] {
            let expected = expected.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
