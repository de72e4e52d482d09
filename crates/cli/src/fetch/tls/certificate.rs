//! The parts of a certificate that people look for: subject, issuer and validity (RFC 5280 §4.1).
//!
//! Rule: the bytes are a peer's. They are read within their lengths, and one that cannot be read has no
//! words.
//!
//! The fuzz target `certificate` includes this file: nothing but the standard library is used here.

/// The text for a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Certificate {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) not_before: String,
    pub(crate) not_after: String,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
/// The tag of the version, which certificates of version 1 do not have.
const VERSION: u8 = 0xa0;

/// The attributes of names (RFC 4519 §2, RFC 5280 §4.1.2.4).
const ATTRIBUTES: [(&[u8], &str); 9] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
];

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Certificate {
    /// Parses a certificate in DER; returns nothing if that fails.
    pub(crate) fn of(der: &[u8]) -> Option<Self> {
        let mut certificate = Der(der).take(SEQUENCE)?;
        let mut signed = certificate.take(SEQUENCE)?;
        // Certificates of version 1 leave the version out (RFC 5280 §4.1.2.1).
        let _ = signed.take(VERSION);
        signed.take(INTEGER)?;
        // The algorithm of its signature.
        signed.take(SEQUENCE)?;
        let issuer = name(signed.take(SEQUENCE)?)?;
        let mut validity = signed.take(SEQUENCE)?;
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        let subject = name(signed.take(SEQUENCE)?)?;
        Some(Self { subject, issuer, not_before, not_after })
    }
}

/// The bytes that are not parsed yet.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Takes the content of the next value if it has this tag; otherwise takes nothing.
    fn take(&mut self, tag: u8) -> Option<Self> {
        let mut rest = *self;
        let (found, content) = rest.next()?;
        (found == tag).then(|| {
            *self = rest;
            content
        })
    }

    /// Takes the next value: its tag and its content (X.690 §8.1).
    fn next(&mut self) -> Option<(u8, Self)> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match usize::from(*first) {
            short @ 0..=0x7f => (short, rest),
            long => {
                let (digits, rest) = rest.split_at_checked(long & 0x7f)?;
                let is_plausible = (1..=3).contains(&digits.len());
                let length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
                (Some(length).filter(|_| is_plausible)?, rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, Self(content)))
    }
}

/// `C=SE; O=Example; CN=a.example`, in the order of the certificate.
fn name(mut bytes: Der<'_>) -> Option<String> {
    let mut parts = Vec::new();
    while !bytes.0.is_empty() {
        let mut set = bytes.take(SET)?;
        while !set.0.is_empty() {
            parts.push(attribute(set.take(SEQUENCE)?)?);
        }
    }
    Some(parts.join("; "))
}

fn attribute(mut bytes: Der<'_>) -> Option<String> {
    let kind = bytes.take(OBJECT_IDENTIFIER)?.0;
    let (tag, value) = bytes.next()?;
    let known = ATTRIBUTES.iter().find(|(identifier, _)| *identifier == kind);
    let value = text(tag, value.0);
    Some(match known {
        Some((_, name)) => format!("{name}={value}"),
        None => format!("{}={value}", dotted(kind)),
    })
}

fn text(tag: u8, bytes: &[u8]) -> String {
    if tag != BMP_STRING {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// Returns an object identifier in dotted form (X.690 §8.19).
fn dotted(identifier: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for byte in identifier {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            numbers.push(std::mem::take(&mut number));
        }
    }
    let Some((first, rest)) = numbers.split_first() else { return String::new() };
    let arc = (first / 40).min(2);
    let all = [arc, first - arc * 40].into_iter().chain(rest.iter().copied());
    all.map(|number| number.to_string()).collect::<Vec<_>>().join(".")
}

/// Formats a time like `Nov 23 03:00:00 2026 GMT` (RFC 5280 §4.1.2.5).
fn time(bytes: &mut Der<'_>) -> Option<String> {
    let (tag, Der(text)) = bytes.next()?;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            // Two digits stand for 1950 to 2049 (RFC 5280 §4.1.2.5.1).
            let century = if number(year)? < 50 { "20" } else { "19" };
            (format!("{century}{year}"), rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.to_owned(), rest)
        }
        _ => return None,
    };
    let mut parts = [0; 5];
    for (at, part) in parts.iter_mut().enumerate() {
        *part = number(rest.get(2 * at..2 * at + 2)?)?;
    }
    let [month, day, hour, minute, second] = parts;
    let month = MONTHS.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    Some(format!("{month} {day:>2} {hour:02}:{minute:02}:{second:02} {year} GMT"))
}

fn number(digits: &str) -> Option<u32> {
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        let length = u8::try_from(content.len()).unwrap();
        let length = if length < 0x80 { vec![length] } else { vec![0x81, length] };
        [&[tag], &length[..], &content].concat()
    }

    fn attribute(kind: &[u8], tag: u8, text: &[u8]) -> Vec<u8> {
        let kind = value(OBJECT_IDENTIFIER, &[kind]);
        value(SET, &[&value(SEQUENCE, &[&kind, &value(tag, &[text])])])
    }

    fn certificate() -> Vec<u8> {
        let subject = [
            attribute(&[0x55, 4, 6], 0x13, b"SE"),
            attribute(&[0x55, 4, 10], 0x0c, "Exämple & Co".as_bytes()),
            attribute(&[0x55, 4, 3], BMP_STRING, b"\0a\0.\0b"),
            attribute(&[0x2b, 6, 1, 4, 1, 0x82, 0x37], 0x0c, b"x"),
        ];
        let issuer = value(SEQUENCE, &[&attribute(&[0x55, 4, 3], 0x0c, b"The issuer")]);
        let validity = [value(UTC_TIME, &[b"261103000000Z"]), value(GENERALIZED_TIME, &[b"20610131000000Z"])];
        let signed = [
            value(VERSION, &[&value(INTEGER, &[&[2]])]),
            value(INTEGER, &[&[1]]),
            value(SEQUENCE, &[]),
            issuer,
            value(SEQUENCE, &[&validity.concat()]),
            value(SEQUENCE, &[&subject.concat()]),
        ];
        value(SEQUENCE, &[&value(SEQUENCE, &[&signed.concat()])])
    }

    #[test]
    fn a_certificate_is_told_in_words() {
        let words = Certificate::of(&certificate()).unwrap();
        assert_eq!(words.subject, "C=SE; O=Exämple & Co; CN=a.b; 1.3.6.1.4.1.311=x");
        assert_eq!(words.issuer, "CN=The issuer");
        assert_eq!(words.not_before, "Nov  3 00:00:00 2026 GMT");
        assert_eq!(words.not_after, "Jan 31 00:00:00 2061 GMT");
    }

    #[test]
    fn bytes_that_are_none_have_no_words() {
        let whole = certificate();
        for length in 0..whole.len() {
            assert_eq!(Certificate::of(&whole[..length]), None, "{length}");
        }
        let trailed = [&*whole, b"more"].concat();
        assert_eq!(Certificate::of(&trailed), Certificate::of(&whole));
        // Every byte changed to every value: it has words or none, and ends.
        for at in 0..whole.len() {
            for value in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = value;
                let _ = Certificate::of(&changed);
            }
        }
    }

    #[test]
    fn years_of_two_digits_are_near() {
        for (digits, expected) in [
            (&b"490203040506Z"[..], Some("Feb  3 04:05:06 2049 GMT")),
            (b"500203040506Z", Some("Feb  3 04:05:06 1950 GMT")),
            (b"501303040506Z", None),
            (b"500003040506Z", None),
            (b"5002030405Z", None),
            (b"490203040506", None),
        ] {
            let der = [&[UTC_TIME, digits.len() as u8], digits].concat();
            assert_eq!(time(&mut Der(&der)).as_deref(), expected);
        }
    }
}
