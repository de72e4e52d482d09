//! Values of flags that have parts, parsed and checked while the arguments are read.

pub(in crate::args) mod durations;
pub(in crate::args) mod password;

use std::{
    fs, io,
    net::{IpAddr, SocketAddr},
    num::NonZeroU64,
    time::Duration,
};

/// A field to send, or the name of one to leave out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FieldArg {
    pub(crate) name: String,
    /// The value; `None` leaves out a field that is sent by default.
    pub(crate) value: Option<String>,
}

impl FieldArg {
    /// Checks what can be checked before there is a request, with the library's messages.
    pub(crate) fn new(name: &str, value: Option<&str>) -> Result<Self, String> {
        // White space around a value is not part of it (RFC 9110 §5.5).
        let value = value.map(|value| value.trim_matches([' ', '\t']));
        let checked = alula::FieldSection::new().append(name, value.unwrap_or_default());
        checked.map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), value: value.map(str::to_owned) })
    }
}

/// Parses `name: value`, `name:` for a field to leave out, or `name;` for a field without a value.
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

/// The fields of one -H: a single one, or those of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fields(pub(crate) Vec<FieldArg>);

/// Parses a field, or `@FILE` with one field on each line; `@-` is stdin.
pub(super) fn fields(text: &str) -> Result<Fields, String> {
    let Some(file) = text.strip_prefix('@') else { return field(text).map(|field| Fields(vec![field])) };
    let text = match file {
        "-" => io::read_to_string(io::stdin()).map_err(|error| error.to_string())?,
        file => fs::read_to_string(file).map_err(|error| error.to_string())?,
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let number = |at: usize| move |why: String| format!("line {}: {why}", at + 1);
    lines.enumerate().map(|(at, line)| field(line).map_err(number(at))).collect::<Result<_, _>>().map(Fields)
}

/// Parses a method, which is a token (RFC 9110 §9.1) and is sent as it is spelled.
pub(super) fn method(text: &str) -> Result<String, String> {
    let checked = alula::Method::parse(text);
    checked.map(|_| text.to_owned()).map_err(|_| "a method is a token (RFC 9110 §9.1)".to_owned())
}

/// The words that are methods even if nothing follows them.
pub(crate) const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Returns true for a word in capitals, as methods usually are.
pub(crate) fn is_in_capitals(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(&byte))
}

/// The protocols that URLs may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Protocols {
    pub(crate) http: bool,
    pub(crate) https: bool,
}

/// Parses names between commas: each alone or with `+` is added, with `-` removed, and with `=` replaces all
/// before it. Those of others than HTTP change nothing.
pub(super) fn protocols(text: &str) -> Result<Protocols, String> {
    let mut all = Protocols { http: true, https: true };
    for word in text.split(',') {
        let name = word.trim_start_matches(['=', '+', '-']);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+';
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err("names such as http and https between commas, with =, + or - before them".to_owned());
        }
        let is = |scheme: &str| name.eq_ignore_ascii_case(scheme) || name.eq_ignore_ascii_case("all");
        let (http, https) = (is("http"), is("https"));
        all = match word[..word.len() - name.len()].chars().last() {
            Some('=') => Protocols { http, https },
            Some('-') => Protocols { http: all.http && !http, https: all.https && !https },
            _ => Protocols { http: all.http || http, https: all.https || https },
        };
    }
    Ok(all)
}

impl Protocols {
    /// Returns true if this scheme is one of them.
    pub(crate) fn have(self, scheme: &str) -> bool {
        if scheme == "https" { self.https } else { self.http }
    }
}

/// Parses `name:password`; without a colon the password is asked for on the terminal.
pub(super) fn credentials(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, password)) => Ok((name.to_owned(), password.to_owned())),
        None => match password::of(text) {
            Some(password) => password.map(|it| (text.to_owned(), it)).map_err(|error| error.to_string()),
            None => Err("written as NAME:PASSWORD; the password may be empty".to_owned()),
        },
    }
}

/// The place from which a download continues: `-` is where the file ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum From {
    EndOfFile,
    Byte(u64),
}

pub(super) fn offset(text: &str) -> Result<From, String> {
    match text {
        "-" => Ok(From::EndOfFile),
        digits => digits.parse().map(From::Byte).map_err(|_| "a number of bytes, or `-`".to_owned()),
    }
}

/// Parses `FIRST-LAST`, `FIRST-` or `-LAST`, several of them between commas (RFC 9110 §14.1.2).
pub(super) fn range(text: &str) -> Result<String, String> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or_default();
        !(first.is_empty() && last.is_empty()) && is_digits(first) && is_digits(last)
    };
    match text.split(',').all(is_range) {
        true => Ok(text.to_owned()),
        false => Err("written as FIRST-LAST, FIRST- or -LAST (RFC 9110 §14.1.2)".to_owned()),
    }
}

/// The addresses of a host and port; if there are none, the resolver is asked. `*` is any host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) addresses: Vec<SocketAddr>,
}

/// Parses `HOST:PORT:ADDRESS[,ADDRESS]`, IPv6 in brackets or without, or `-HOST:PORT`.
pub(super) fn resolved(text: &str) -> Result<Resolved, String> {
    let complain = || "written as HOST:PORT:ADDRESS[,ADDRESS] or -HOST:PORT".to_owned();
    if let Some((host, port)) = text.strip_prefix('-').and_then(|rest| rest.rsplit_once(':')) {
        let port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        return Ok(Resolved { host, port, addresses: Vec::new() });
    }
    // With curl it is forgotten after a minute.
    let text = text.strip_prefix('+').unwrap_or(text);
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

/// Another host and port to connect to; an empty part matches anything, or is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ConnectTo {
    pub(crate) asked_host: Option<String>,
    pub(crate) asked_port: Option<u16>,
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u16>,
}

impl ConnectTo {
    /// Returns true if the rule is for this host and port.
    pub(crate) fn is_for(&self, host: &str, port: u16) -> bool {
        self.asked_host.as_ref().is_none_or(|asked| asked.eq_ignore_ascii_case(host))
            && self.asked_port.is_none_or(|asked| asked == port)
    }

    /// Returns the host and port to connect to in place of these.
    pub(crate) fn instead_of<'a>(&'a self, host: &'a str, port: u16) -> (&'a str, u16) {
        (self.host.as_deref().unwrap_or(host), self.port.unwrap_or(port))
    }
}

/// Parses `HOST:PORT:HOST:PORT`, IPv6 in brackets; each of the four may be empty.
pub(super) fn connect_to(text: &str) -> Result<ConnectTo, String> {
    let complain = || "written as HOST:PORT:HOST:PORT; each may be empty".to_owned();
    let (asked_host, rest) = host_and_rest(text).ok_or_else(complain)?;
    let (asked_port, rest) = rest.split_once(':').ok_or_else(complain)?;
    let (host, port) = host_and_rest(rest).ok_or_else(complain)?;
    let port_of = |text: &str| match text {
        "" => Ok(None),
        digits => digits.parse().map(Some).map_err(|_| format!("{digits:?} is no port")),
    };
    let host_of = |text: &str| Some(text.to_ascii_lowercase()).filter(|host| !host.is_empty());
    Ok(ConnectTo {
        asked_host: host_of(asked_host),
        asked_port: port_of(asked_port)?,
        host: host_of(host),
        port: port_of(port)?,
    })
}

/// Splits off the host, without its brackets, from the rest behind the colon.
fn host_and_rest(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => text.split_once(':'),
    }
}

/// A rate in bytes per second.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Rate(pub(crate) NonZeroU64);

impl Rate {
    /// Returns the time in which so many bytes come at this rate.
    pub(crate) fn time_for(self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.0.get() as f64)
    }
}

pub(super) fn rate(text: &str) -> Result<Rate, String> {
    bytes(text).map(Rate)
}

/// Parses a number of bytes, with `k`, `M` or `G` for powers of 1024.
pub(super) fn bytes(text: &str) -> Result<NonZeroU64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, letter)) if letter.is_ascii_alphabetic() => (&text[..at], letter.to_ascii_lowercase()),
        _ => (text, 'b'),
    };
    let power = "bkmg".find(unit);
    let bytes = power.and_then(|power| digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(power as u32)));
    bytes.and_then(NonZeroU64::new).ok_or_else(|| "written as 500, 100k, 2M or 1G".to_owned())
}

/// Parses as [`bytes`] does; 0 is no limit.
pub(super) fn bytes_or_zero(text: &str) -> Result<u64, String> {
    if text == "0" { Ok(0) } else { bytes(text).map(NonZeroU64::get) }
}

/// Parses the memory of all requests of a store. With less than a mebibyte nearly all would wait for each
/// other, which nobody asks for who writes a number without its unit.
pub(super) fn memory(text: &str) -> Result<NonZeroU64, String> {
    let memory = bytes(text)?;
    if memory.get() >= 1 << 20 { Ok(memory) } else { Err("it is 1M at least".to_owned()) }
}

/// Parses the size of a head, in bytes.
pub(super) fn header_size(text: &str) -> Result<u32, String> {
    let size = bytes(text)?.get();
    u32::try_from(size)
        .ok()
        .filter(|size| *size <= HEADER_SIZE_MAX)
        .ok_or_else(|| "it is 16M at most".to_owned())
}

/// The largest size of a head: half of a connection's account.
const HEADER_SIZE_MAX: u32 = 16 << 20;

/// Parses `FIRST-LAST`, or one port.
pub(super) fn ports(text: &str) -> Result<(u16, u16), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((first, last)),
        _ => Err("written as FIRST-LAST or PORT".to_owned()),
    }
}

/// Parses a number of redirects; -1 is no limit.
pub(super) fn redirects(text: &str) -> Result<u16, String> {
    match text.parse::<i64>() {
        Ok(-1) => Ok(u16::MAX),
        Ok(count @ 0..) => Ok(u16::try_from(count).unwrap_or(u16::MAX)),
        _ => Err("a number, or -1 for no limit".to_owned()),
    }
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
    fn ranges_are_of_bytes() {
        for right in ["0-0", "5-", "-5", "0-1,5-"] {
            assert_eq!(range(right), Ok(right.to_owned()));
        }
        for wrong in ["", "-", "5", "a-b", "0-1,", "0 - 1"] {
            assert!(range(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!((offset("-"), offset("7")), (Ok(From::EndOfFile), Ok(From::Byte(7))));
        assert!(offset("").is_err() && offset("-1").is_err());
    }

    #[test]
    fn a_connection_may_lead_elsewhere() {
        for (text, expected) in [
            ("A:80:b:81", (Some("a"), Some(80), Some("b"), Some(81))),
            ("::b:81", (None, None, Some("b"), Some(81))),
            ("a:80::", (Some("a"), Some(80), None, None)),
            ("[::1]:80:[::2]:81", (Some("::1"), Some(80), Some("::2"), Some(81))),
        ] {
            let (asked_host, asked_port, host, port) = expected;
            let [asked_host, host] = [asked_host, host].map(|host| host.map(str::to_owned));
            assert_eq!(connect_to(text), Ok(ConnectTo { asked_host, asked_port, host, port }), "{text}");
        }
        for wrong in ["", "a", "a:80", "a:80:b", "a:x:b:80", "a:80:b:99999"] {
            assert!(connect_to(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn protocols_are_set_added_and_taken_away() {
        for (text, http, https) in [
            ("https", true, true),
            ("=https", false, true),
            ("=http,https", true, true),
            ("-http", false, true),
            ("=https,+http", true, true),
            ("-all,https", false, true),
            ("=ftp", false, false),
            ("=ALL", true, true),
            ("=https,-HTTPS", false, false),
        ] {
            assert_eq!(protocols(text), Ok(Protocols { http, https }), "{text}");
        }
        for wrong in ["", "=", "=https,", "ht tp"] {
            assert!(protocols(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_a_number_of_bytes() {
        for (text, bytes) in [("500", 500), ("1k", 1024), ("2M", 2 << 20), ("1g", 1 << 30), ("7B", 7)] {
            assert_eq!(rate(text).map(|rate| rate.0.get()), Ok(bytes), "{text}");
        }
        for wrong in ["", "0", "k", "1x", "-1", "1.5M", "99999999999999999999", "ä"] {
            assert!(rate(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn there_may_be_no_limit() {
        assert_eq!((bytes_or_zero("0"), bytes_or_zero("2k")), (Ok(0), Ok(2048)));
        assert_eq!(memory("1M").map(NonZeroU64::get), Ok(1 << 20));
        for text in ["192", "1023k", "0"] {
            assert!(memory(text).is_err(), "{text}");
        }
        assert_eq!((header_size("2M"), header_size("16M")), (Ok(2 << 20), Ok(16 << 20)));
        assert!(["0", "17M", "5G", "-1", ""].iter().all(|text| header_size(text).is_err()));
        for (text, count) in [("-1", u16::MAX), ("0", 0), ("3", 3), ("100000", u16::MAX)] {
            assert_eq!(redirects(text), Ok(count), "{text}");
        }
        assert_eq!((ports("80"), ports("80-90")), (Ok((80, 80)), Ok((80, 90))));
        assert!(["", "0", "90-80", "1-70000", "x", "-1"].iter().all(|text| ports(text).is_err()));
        assert!(redirects("-2").is_err() && redirects("").is_err() && redirects("x").is_err());
    }

    #[test]
    fn fields_may_come_from_a_file() {
        let path = std::env::temp_dir().join(format!("alula-fields-{}", std::process::id()));
        std::fs::write(&path, "a: b\r\n\nc;\n").unwrap();
        let given = format!("@{}", path.display());
        let names = |fields: Fields| fields.0.into_iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(fields(&given).map(names), Ok(vec!["a".to_owned(), "c".to_owned()]));
        std::fs::write(&path, "a: b\nwrong\n").unwrap();
        assert!(fields(&given).unwrap_err().starts_with("line 2: "));
        std::fs::remove_file(path).unwrap();
        assert!(fields(&given).is_err());
    }

    #[test]
    fn a_host_is_found_at_addresses() {
        for (text, host, addresses) in [
            ("a:80:127.0.0.1", "a", &["127.0.0.1:80"][..]),
            ("a:80:::1,[::2],1.2.3.4", "a", &["[::1]:80", "[::2]:80", "1.2.3.4:80"]),
            ("[::1]:80:[::2]", "::1", &["[::2]:80"]),
            ("*:80:::1", "*", &["[::1]:80"]),
            ("+a:80:::1", "a", &["[::1]:80"]),
            ("-a:80", "a", &[]),
            ("-[::1]:80", "::1", &[]),
        ] {
            let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
            assert_eq!(resolved(text), Ok(Resolved { host: host.to_owned(), port: 80, addresses }));
        }
        for wrong in
            ["", "-", "-a", "-a:b", "a", "a:80", "a:80:", "a:b:1.2.3.4", "a:80:localhost", "a:80:1.2.3.4,"]
        {
            assert!(resolved(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_password_may_be_empty_and_hold_colons() {
        assert_eq!(credentials("a:b:c"), Ok(("a".to_owned(), "b:c".to_owned())));
        assert_eq!(credentials("a:"), Ok(("a".to_owned(), String::new())));
    }

    #[test]
    fn a_method_is_any_token() {
        assert_eq!(method("purge"), Ok("purge".to_owned()));
        assert!(method("").is_err() && method("GET /").is_err());
    }
}
