//! Times as values of flags: seconds, or a number with a unit.

use std::time::Duration;

/// The units and their seconds; if a text may end in two of them, the longer one comes first.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

const WRITTEN: &str = "written as seconds or with a unit, such as 1.5, 200ms, 2m or 1h";

/// The longest delay of an answer: an hour.
const DELAY_MAX: Duration = Duration::from_secs(60 * 60);

/// The least number without a unit that is refused as the time of a slow request: it would be more than a
/// minute and a half.
const MILLISECONDS_FROM: Duration = Duration::from_secs(100);

/// Reads a time: seconds, or a number with `ms`, `s`, `m` or `h` behind it.
pub(in crate::args) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = UNITS
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))
        .unwrap_or((text, 1.0));
    let number: f64 = number.parse().map_err(|_| WRITTEN.to_owned())?;
    if number < 0.0 {
        return Err("a time is not less than 0".to_owned());
    }
    // More than nothing stays so: nothing is no limit to many flags.
    let least = Duration::from_nanos(u64::from(number > 0.0));
    Duration::try_from_secs_f64(number * unit).map(|time| time.max(least)).map_err(|_| WRITTEN.to_owned())
}

/// A time limit, or none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Limit(pub(crate) Option<Duration>);

/// Parses as [`duration`] does; 0 is no limit.
pub(in crate::args) fn seconds_or_none(text: &str) -> Result<Limit, String> {
    duration(text).map(|time| Limit(Some(time).filter(|time| !time.is_zero())))
}

/// Parses as [`duration`] does, and requires more than 0.
pub(in crate::args) fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("more than 0".to_owned()),
        time => Ok(time),
    }
}

/// Parses as [`duration`] does, and requires whole seconds.
pub(in crate::args) fn whole_seconds(text: &str) -> Result<u32, String> {
    let time = duration(text)?;
    let whole = (time.subsec_nanos() == 0).then_some(time.as_secs());
    whole
        .and_then(|seconds| u32::try_from(seconds).ok())
        .ok_or_else(|| "a number of whole seconds".to_owned())
}

/// Parses as [`duration`] does, from 1 second to an hour.
pub(in crate::args) fn demo_seconds(text: &str) -> Result<f64, String> {
    let seconds = duration(text)?.as_secs_f64();
    if (1.0..=3600.0).contains(&seconds) { Ok(seconds) } else { Err("from 1 second to an hour".to_owned()) }
}

/// Parses as [`duration`] does, up to an hour.
pub(in crate::args) fn delay(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        time if time <= DELAY_MAX => Ok(time),
        _ => Err("an hour (1h) at most".to_owned()),
    }
}

/// Parses the time of a slow request as [`duration`] does. A large number without a unit is refused:
/// milliseconds were meant by it once.
pub(in crate::args) fn slow(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    match time >= MILLISECONDS_FROM && text.parse::<f64>().is_ok() {
        true => Err(format!("a number alone is seconds; {text}ms or {text}s says which is meant")),
        false => Ok(time),
    }
}

/// Parses milliseconds, or a number with a unit.
pub(in crate::args) fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(millis) => Ok(Duration::from_millis(millis)),
        Err(_) if text.parse::<f64>().is_ok() => {
            Err("a number alone is milliseconds without a fraction".to_owned())
        }
        Err(_) => duration(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        for (text, millis) in [
            ("0", 0),
            ("2", 2000),
            ("0.25", 250),
            (".5", 500),
            ("1e3", 1_000_000),
            ("1s", 1000),
            ("200ms", 200),
            ("1.5m", 90_000),
            ("1h", 3_600_000),
            ("0ms", 0),
            ("-0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(duration("1e-30"), Ok(Duration::from_nanos(1)));
        for wrong in [
            "", "s", "ms", "1S", "1 s", "1d", "1m30s", "-1", "-1s", "nan", "infs", "1e300", "1e300h", "soon",
            "ä",
        ] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn each_flag_has_its_bounds() {
        assert_eq!(seconds_or_none("0"), Ok(Limit(None)));
        assert_eq!(seconds_or_none("1m"), Ok(Limit(Some(Duration::from_secs(60)))));
        assert_eq!((whole_seconds("3"), whole_seconds("2m")), (Ok(3), Ok(120)));
        assert_eq!((some_time("5m"), some_time("0s").is_err()), (Ok(Duration::from_secs(300)), true));
        assert!(whole_seconds("1.5").is_err() && whole_seconds("1e12").is_err());
        assert!(demo_seconds("0.5").is_err() && demo_seconds("3s").is_ok() && demo_seconds("2h").is_err());
        assert!(delay("1h").is_ok() && delay("61m").is_err());
    }

    #[test]
    fn milliseconds_are_not_taken_for_seconds() {
        assert_eq!(slow("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!((slow("500ms"), slow("500s")), (duration("0.5"), duration("500")));
        assert_eq!(
            slow("500"),
            Err("a number alone is seconds; 500ms or 500s says which is meant".to_owned())
        );
        assert_eq!((milliseconds("3000"), milliseconds("3s")), (duration("3"), duration("3")));
        assert!(milliseconds("1.5").is_err() && milliseconds("soon").is_err());
    }
}
