//! Values of flags that are more than a word, taken apart and checked while the arguments are read.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

/// A field to send, or one not to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FieldArg {
    pub(crate) name: String,
    /// Nothing when the field is not to be sent, though it is by default.
    pub(crate) value: Option<String>,
}

impl FieldArg {
    /// Checks what can be checked before there is a request, with the library's words for it.
    pub(crate) fn new(name: &str, value: Option<&str>) -> Result<Self, String> {
        // White space around a value is not part of it (RFC 9110 §5.5).
        let value = value.map(|value| value.trim_matches([' ', '\t']));
        let checked = alula::FieldSection::new().append(name, value.unwrap_or_default());
        checked.map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), value: value.map(str::to_owned) })
    }
}

/// `name: value`, `name:` for a field that is not to be sent, `name;` for one without a value.
pub(super) fn field(text: &str) -> Result<FieldArg, String> {
    match text.split_once(':') {
        Some((name, value)) if value.trim().is_empty() => FieldArg::new(name, None),
        Some((name, value)) => FieldArg::new(name, Some(value)),
        None => match text.strip_suffix(';') {
            Some(name) => FieldArg::new(name, Some("")),
            None => Err("a field is written `name: value`".to_owned()),
        },
    }
}

/// A method is a token (RFC 9110 §9.1); it is sent as it is spelled.
pub(super) fn method(text: &str) -> Result<String, String> {
    let checked = alula::Method::parse(text);
    checked.map(|_| text.to_owned()).map_err(|_| "a method is a token (RFC 9110 §9.1)".to_owned())
}

/// `name:password`.
pub(super) fn credentials(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, password)) => Ok((name.to_owned(), password.to_owned())),
        None => Err("written as NAME:PASSWORD; the password may be empty".to_owned()),
    }
}

/// Where to go on: `-` is where the file ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum From {
    EndOfFile,
    Octet(u64),
}

pub(super) fn offset(text: &str) -> Result<From, String> {
    match text {
        "-" => Ok(From::EndOfFile),
        digits => digits.parse().map(From::Octet).map_err(|_| "a number of octets, or `-`".to_owned()),
    }
}

/// `FIRST-LAST`, `FIRST-` or `-LAST`, several of them between commas (RFC 9110 §14.1.2).
pub(super) fn range(text: &str) -> Result<String, String> {
    let is_digits = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    let is_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or_default();
        !(first.is_empty() && last.is_empty()) && is_digits(first) && is_digits(last)
    };
    match text.split(',').all(is_range) {
        true => Ok(text.to_owned()),
        false => Err("written as FIRST-LAST, FIRST- or -LAST (RFC 9110 §14.1.2)".to_owned()),
    }
}

/// Where a host and port are to be found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) addresses: Vec<SocketAddr>,
}

/// `HOST:PORT:ADDRESS[,ADDRESS]`, IPv6 in brackets or without.
pub(super) fn resolved(text: &str) -> Result<Resolved, String> {
    let complain = || "written as HOST:PORT:ADDRESS[,ADDRESS]".to_owned();
    let (host, rest) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").ok_or_else(complain)?,
        None => text.split_once(':').ok_or_else(complain)?,
    };
    let (port, addresses) = rest.split_once(':').ok_or_else(complain)?;
    let port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
    let address = |text: &str| match text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => Ok(SocketAddr::new(address, port)),
        Err(_) => Err(format!("{text:?} is no IP address")),
    };
    let addresses = addresses.split(',').map(address).collect::<Result<_, _>>()?;
    Ok(Resolved { host: host.to_owned(), port, addresses })
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if seconds <= 0.0 {
        return Err("must be more than 0".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(super) fn demo_seconds(text: &str) -> Result<f64, String> {
    let seconds = seconds(text)?.as_secs_f64();
    if (1.0..=3600.0).contains(&seconds) { Ok(seconds) } else { Err("must be from 1 to 3600".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_value_or_none_or_is_not_sent() {
        for (text, name, value) in [
            ("X-A: b:c ", "X-A", Some("b:c")),
            ("x-a:b", "x-a", Some("b")),
            ("x-a:", "x-a", None),
            ("x-a: ", "x-a", None),
            ("x-a;", "x-a", Some("")),
            ("x-a: b;", "x-a", Some("b;")),
        ] {
            let expected = FieldArg { name: name.to_owned(), value: value.map(str::to_owned) };
            assert_eq!(field(text), Ok(expected), "{text}");
        }
        for wrong in ["x-a", ": b", "x a: b", "x-a: b\r\nc: d", ";", ":", ""] {
            assert!(field(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn seconds_may_be_fractions_but_not_nothing() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["0", "-1", "nan", "inf", "1e300", "soon", ""] {
            assert!(seconds(wrong).is_err(), "{wrong:?}");
        }
        assert!(demo_seconds("0.5").is_err() && demo_seconds("3").is_ok());
    }

    #[test]
    fn ranges_are_of_octets() {
        for right in ["0-0", "5-", "-5", "0-1,5-"] {
            assert_eq!(range(right), Ok(right.to_owned()));
        }
        for wrong in ["", "-", "5", "a-b", "0-1,", "0 - 1"] {
            assert!(range(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!((offset("-"), offset("7")), (Ok(From::EndOfFile), Ok(From::Octet(7))));
        assert!(offset("").is_err() && offset("-1").is_err());
    }

    #[test]
    fn a_host_is_found_at_addresses() {
        for (text, host, addresses) in [
            ("a:80:127.0.0.1", "a", &["127.0.0.1:80"][..]),
            ("a:80:::1,[::2],1.2.3.4", "a", &["[::1]:80", "[::2]:80", "1.2.3.4:80"]),
            ("[::1]:80:[::2]", "::1", &["[::2]:80"]),
        ] {
            let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
            assert_eq!(resolved(text), Ok(Resolved { host: host.to_owned(), port: 80, addresses }));
        }
        for wrong in ["", "a", "a:80", "a:80:", "a:b:1.2.3.4", "a:80:localhost", "a:80:1.2.3.4,"] {
            assert!(resolved(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_password_may_be_empty_and_hold_colons_but_must_be_there() {
        assert_eq!(credentials("a:b:c"), Ok(("a".to_owned(), "b:c".to_owned())));
        assert_eq!(credentials("a:"), Ok(("a".to_owned(), String::new())));
        assert!(credentials("a").is_err());
    }

    #[test]
    fn a_method_is_any_token() {
        assert_eq!(method("purge"), Ok("purge".to_owned()));
        assert!(method("").is_err() && method("GET /").is_err());
    }
}
