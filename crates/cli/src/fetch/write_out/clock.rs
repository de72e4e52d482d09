//! `%time{FORMAT}`: a time in UTC, formatted like strftime with the names of the locale C.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// Formats the present time.
pub(super) fn now(format: &str) -> String {
    // A clock that stands before 1970 is at its beginning.
    formatted(format, SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Formats a time given since the beginning of 1970. Unknown conversions stay as they are.
fn formatted(format: &str, since: Duration) -> String {
    let clock = Clock::of(since);
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        match characters.next() {
            None => text.push('%'),
            Some(letter) => match clock.part(letter) {
                Some(part) => text.push_str(&part),
                None => text.extend(['%', letter]),
            },
        }
    }
    text
}

/// A time, split into its parts.
struct Clock {
    since: Duration,
    year: u64,
    /// The hour from 1 to 12.
    month: u64,
    day: u64,
    /// The day of the year, 0 for the first.
    day_of_year: u64,
    /// The day of the week, 0 for Sunday.
    weekday: u64,
    hour: u64,
    minute: u64,
    second: u64,
}

impl Clock {
    fn of(since: Duration) -> Self {
        let (days, seconds) = (since.as_secs() / SECONDS_OF_DAY, since.as_secs() % SECONDS_OF_DAY);
        let (mut year, mut day_of_year) = (1970, days);
        while day_of_year >= days_of_year(year) {
            day_of_year -= days_of_year(year);
            year += 1;
        }
        let (mut month, mut day) = (1, day_of_year);
        while day >= days_of_month(year, month) {
            day -= days_of_month(year, month);
            month += 1;
        }
        Self {
            since,
            year,
            month,
            day: day + 1,
            day_of_year,
            // The first day of 1970 was a Thursday.
            weekday: (days + 4) % 7,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
        }
    }

    /// Returns the text for a letter after a percent sign; nothing if strftime has no such letter.
    fn part(&self, letter: char) -> Option<String> {
        let Self { year, month, day, hour, minute, second, weekday, day_of_year, since } = self;
        let (week_year, week) = self.week();
        let hour12 = (hour + 11) % 12 + 1;
        Some(match letter {
            'a' => self.day_name()[..3].to_owned(),
            'A' => self.day_name().to_owned(),
            'b' | 'h' => self.month_name()[..3].to_owned(),
            'B' => self.month_name().to_owned(),
            'c' => formatted("%a %b %e %H:%M:%S %Y", *since),
            'C' => format!("{:02}", year / 100),
            'd' => format!("{day:02}"),
            'D' | 'x' => formatted("%m/%d/%y", *since),
            'e' => format!("{day:2}"),
            'f' => format!("{:06}", since.subsec_micros()),
            'F' => formatted("%Y-%m-%d", *since),
            'g' => format!("{:02}", week_year % 100),
            'G' => week_year.to_string(),
            'H' => format!("{hour:02}"),
            'I' => format!("{hour12:02}"),
            'j' => format!("{:03}", day_of_year + 1),
            'k' => format!("{hour:2}"),
            'l' => format!("{hour12:2}"),
            'm' => format!("{month:02}"),
            'M' => format!("{minute:02}"),
            'n' => "\n".to_owned(),
            'p' => if *hour < 12 { "AM" } else { "PM" }.to_owned(),
            'P' => if *hour < 12 { "am" } else { "pm" }.to_owned(),
            'r' => formatted("%I:%M:%S %p", *since),
            'R' => formatted("%H:%M", *since),
            's' => since.as_secs().to_string(),
            'S' => format!("{second:02}"),
            't' => "\t".to_owned(),
            'T' | 'X' => formatted("%H:%M:%S", *since),
            'u' => self.weekday_from_monday().saturating_add(1).to_string(),
            'U' => format!("{:02}", (day_of_year + 7 - weekday) / 7),
            'V' => format!("{week:02}"),
            'w' => weekday.to_string(),
            'W' => format!("{:02}", (day_of_year + 7 - self.weekday_from_monday()) / 7),
            'y' => format!("{:02}", year % 100),
            'Y' => year.to_string(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }

    fn day_name(&self) -> &'static str {
        DAYS[self.weekday as usize]
    }

    fn month_name(&self) -> &'static str {
        MONTHS[self.month as usize - 1]
    }

    fn weekday_from_monday(&self) -> u64 {
        (self.weekday + 6) % 7
    }

    /// Returns the week of ISO 8601 and its year: the first week of a year is the one with its first
    /// Thursday.
    fn week(&self) -> (u64, u64) {
        let thursday = self.day_of_year as i64 + 3 - self.weekday_from_monday() as i64;
        match u64::try_from(thursday) {
            Err(_) => {
                let before = self.year - 1;
                (before, (days_of_year(before) as i64 + thursday) as u64 / 7 + 1)
            }
            Ok(thursday) if thursday >= days_of_year(self.year) => (self.year + 1, 1),
            Ok(thursday) => (self.year, thursday / 7 + 1),
        }
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_strftime() {
        for (seconds, format, expected) in [
            (784_111_777, "%a, %d %b %Y %H:%M:%S GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (
                784_111_777,
                "%A %B %C %D %e|%F|%h %I %j %k|%l",
                "Sunday November 19 11/06/94  6|1994-11-06|Nov 08 310  8| 8",
            ),
            (
                784_111_777,
                "%p %P|%r|%R|%s|%T|%u %w|%y|%z %Z",
                "AM am|08:49:37 AM|08:49|784111777|08:49:37|7 0|94|+0000 UTC",
            ),
            (784_111_777, "%c|%x|%X|%n%t%%|%Q %", "Sun Nov  6 08:49:37 1994|11/06/94|08:49:37|\n\t%|%Q %"),
            (784_111_777, "%U %W %V %G %g", "45 44 44 1994 94"),
            (0, "%F %T %a %V %G %U %W", "1970-01-01 00:00:00 Thu 01 1970 00 00"),
            // The last day of 2020, in the last week of its year; the first of 2021, in that same week.
            (1_609_372_800, "%F %V %G %j", "2020-12-31 53 2020 366"),
            (1_609_459_200, "%F %V %G %U %W %I %p", "2021-01-01 53 2020 00 00 12 AM"),
            (1_230_768_000 - 86_400, "%F %V %G", "2008-12-31 01 2009"),
            (951_782_400 + 43_200, "%F %I %p", "2000-02-29 12 PM"),
        ] {
            assert_eq!(formatted(format, Duration::from_secs(seconds)), expected, "{seconds} {format}");
        }
        assert_eq!(formatted("%S.%f", Duration::from_micros(1_000_042)), "01.000042");
        assert!(now("%Y").parse::<u64>().unwrap() >= 2024);
    }
}
