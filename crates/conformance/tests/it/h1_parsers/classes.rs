//! Why two readers make different things of one head.

use alula_h1::Violation;

use super::heads::Kind;
use super::readers::{Fields, Verdict};

/// One head, and what both made of it.
pub(crate) struct Case<'h> {
    pub(crate) reader: &'static str,
    pub(crate) kind: Kind,
    pub(crate) bytes: &'h [u8],
    pub(crate) ours: Verdict,
    pub(crate) theirs: Verdict,
}

/// A kind of difference, in the words of `docs/supported.md`.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) readers: &'static [&'static str],
    /// What Alula does, what the other readers do, and why.
    pub(crate) says: &'static str,
    holds: fn(&Case<'_>) -> bool,
}

impl Class {
    pub(crate) fn explains(&self, case: &Case<'_>) -> bool {
        self.readers.contains(&case.reader) && (self.holds)(case)
    }
}

impl Case<'_> {
    pub(crate) fn agrees(&self) -> bool {
        match (&self.ours, &self.theirs) {
            (Verdict::Refused(_), Verdict::Refused(_)) | (Verdict::Waits, Verdict::Waits) => true,
            (Verdict::Taken { begins, fields, .. }, Verdict::Taken { begins: other, fields: others, .. }) => {
                begins == other && fields == others
            }
            _ => false,
        }
    }

    /// Ours refused it by one of these rules, theirs took it.
    fn refused_by(&self, rules: &[Violation]) -> bool {
        matches!(&self.ours, Verdict::Refused(Some(rule)) if rules.contains(rule))
            && matches!(self.theirs, Verdict::Taken { .. })
    }

    /// Ours took it, theirs did not.
    fn taken_alone(&self) -> bool {
        matches!(self.ours, Verdict::Taken { .. }) && self.theirs == Verdict::Refused(None)
    }

    fn has(&self, part: &[u8]) -> bool {
        self.bytes.windows(part.len()).any(|bytes| bytes == part)
    }

    /// The values of a field, as theirs has them.
    fn their_values(&self, name: &str) -> Vec<&[u8]> {
        self.theirs.fields().iter().filter(|(other, _)| other == name).map(|(_, value)| &value[..]).collect()
    }

    fn begins(&self) -> &str {
        match &self.theirs {
            Verdict::Taken { begins, .. } => begins,
            _ => "",
        }
    }
}

const BOTH: &[&str] = &["httparse", "h11"];
const HTTPARSE: &[&str] = &["httparse"];
const H11: &[&str] = &["h11"];

/// The first that holds is the one that counts.
pub(crate) const CLASSES: &[Class] = &[
    Class {
        name: "line feeds alone",
        readers: BOTH,
        says: "refuses them; they take a line feed for the end of a line. What one reader takes for one line and another for \
               two smuggles requests. `Leniency::bare_lf` forgives it.",
        holds: |case| case.refused_by(&[Violation::BARE_LF]) && has_lone_line_feed(case.bytes),
    },
    Class {
        name: "folded lines",
        readers: H11,
        says: "refuses them, as RFC 9112 §5.2 allows. `Leniency::folded_lines` forgives it.",
        holds: |case| case.refused_by(&[Violation::FOLDED]) && (case.has(b"\n ") || case.has(b"\n\t")),
    },
    Class {
        name: "controls in values and reasons",
        readers: H11,
        says: "refuses all but tab (RFC 9110 §5.5). It takes most, for the sake of cookies that have them.",
        holds: |case| {
            let is_odd = |byte: &u8| byte.is_ascii_control() && !b"\t\r\n\0".contains(byte);
            case.refused_by(&[Violation::VALUE_INVALID, Violation::STATUS_LINE])
                && case.bytes.iter().any(is_odd)
        },
    },
    Class {
        name: "targets",
        readers: BOTH,
        says: "asks for the form that the method needs (RFC 9112 §3.2); to them any visible bytes are a target.",
        holds: |case| case.refused_by(&[Violation::TARGET_INVALID]) && case.kind == Kind::Request,
    },
    Class {
        name: "content of CONNECT",
        readers: BOTH,
        says: "refuses it: it is content to one reader, and the tunnel's to another (RFC 9110 §9.3.6).",
        holds: |case| case.refused_by(&[Violation::CONTENT_OF_CONNECT]) && case.begins() == "CONNECT",
    },
    Class {
        name: "later minor versions",
        readers: HTTPARSE,
        says: "takes HTTP/1.2 and later for HTTP/1.1 (RFC 9110 §2.5).",
        holds: |case| {
            case.taken_alone() && (2..=9).any(|minor| case.has(format!("HTTP/1.{minor}").as_bytes()))
        },
    },
    Class {
        name: "other major versions",
        readers: H11,
        says: "answers 505 to what is not HTTP/1; it takes any digits for a version.",
        holds: |case| case.refused_by(&[Violation::VERSION_UNSUPPORTED]) && !case.has(b" HTTP/1."),
    },
    Class {
        name: "no host in later minor versions",
        readers: H11,
        says: "asks for it as in HTTP/1.1; it asks for it in HTTP/1.1 only.",
        holds: |case| case.refused_by(&[Violation::HOST_MISSING]) && !case.has(b"HTTP/1.1"),
    },
    Class {
        name: "one empty line before a request",
        readers: H11,
        says: "takes one, as RFC 9112 §2.2 asks; it takes none.",
        holds: |case| case.taken_alone() && case.kind == Kind::Request && case.bytes.starts_with(b"\r\n"),
    },
    Class {
        name: "empty lines before a message",
        readers: HTTPARSE,
        says: "refuses a second one, and any before a response: more of them only waste time. It takes any number.",
        holds: |case| {
            case.refused_by(&[Violation::EMPTY_LINES, Violation::STATUS_LINE])
                && case.bytes.starts_with(b"\r\n")
        },
    },
    Class {
        name: "statuses below 100",
        readers: HTTPARSE,
        says: "refuses them (RFC 9110 §15); it takes any three digits.",
        holds: |case| case.refused_by(&[Violation::STATUS_INVALID]) && case.begins().starts_with('0'),
    },
    Class {
        name: "what hosts say",
        readers: H11,
        says: "asks for a host that is one, and the same as in the target: one message has one authority. It counts them.",
        holds: |case| case.refused_by(&[Violation::HOST_INVALID, Violation::HOST_DIFFERS]),
    },
    Class {
        name: "equal lengths in requests",
        readers: H11,
        says: "refuses them, as RFC 9112 §6.3 allows; it makes one of them. `Leniency::repeated_length` forgives it.",
        holds: |case| {
            case.refused_by(&[Violation::LENGTH_REPEATED]) && case.their_values("content-length").len() == 1
        },
    },
    Class {
        name: "lengths of twenty digits",
        readers: H11,
        says: "takes nineteen: more need not fit 64 bits.",
        holds: |case| {
            case.refused_by(&[Violation::LENGTH_INVALID])
                && case.their_values("content-length").iter().any(|length| length.len() == 20)
        },
    },
    Class {
        name: "a length beside a coding",
        readers: H11,
        says: "refuses it (RFC 9112 §6.1 calls it an attack); it drops the length. `Leniency::length_with_coding` forgives it.",
        holds: |case| {
            case.refused_by(&[Violation::LENGTH_WITH_CODING])
                && case.their_values("transfer-encoding").len() == 1
        },
    },
    Class {
        name: "a coding in HTTP/1.0",
        readers: H11,
        says: "refuses it: RFC 9112 §6.1 calls such a message faulty.",
        holds: |case| case.refused_by(&[Violation::CODING_TOO_EARLY]) && case.has(b"HTTP/1.0"),
    },
    Class {
        name: "a coding where there is no content",
        readers: H11,
        says: "refuses it in 1xx (RFC 9112 §6.1).",
        holds: |case| case.refused_by(&[Violation::CODING_UNEXPECTED]) && case.begins().starts_with('1'),
    },
    Class {
        name: "what framing and hosts mean",
        readers: HTTPARSE,
        says: "reads them; it leaves them to its callers, who have to.",
        holds: |case| {
            case.refused_by(&[
                Violation::HOST_MISSING,
                Violation::HOST_REPEATED,
                Violation::HOST_INVALID,
                Violation::HOST_DIFFERS,
                Violation::LENGTH_INVALID,
                Violation::LENGTH_REPEATED,
                Violation::LENGTH_WITH_CODING,
                Violation::CODING_UNKNOWN,
                Violation::CODING_REPEATED,
                Violation::CODING_TOO_EARLY,
                Violation::CODING_UNEXPECTED,
            ])
        },
    },
    Class {
        name: "equal lengths in responses",
        readers: HTTPARSE,
        says: "makes one of them (RFC 9110 §8.6): servers that repeat it are many, and nothing is smuggled to a client that \
               asks one thing at a time.",
        holds: |case| {
            let without = |fields: &Fields| {
                fields.iter().filter(|(name, _)| name != "content-length").cloned().collect::<Fields>()
            };
            let lengths = case.their_values("content-length");
            let are_many = lengths.len() > 1 || lengths.iter().any(|length| length.contains(&b','));
            case.kind == Kind::Response
                && are_many
                && without(case.ours.fields()) == without(case.theirs.fields())
        },
    },
    Class {
        name: "equal lengths in other words",
        readers: H11,
        says: "compares them as numbers, so that 5 and 05 are one length in responses; it compares them as text.",
        holds: |case| {
            let lengths = case
                .bytes
                .windows(16)
                .filter(|bytes| bytes.eq_ignore_ascii_case(b"\r\ncontent-length"))
                .count();
            case.taken_alone() && case.kind == Kind::Response && (lengths > 1 || case.has(b","))
        },
    },
    Class {
        name: "codings in another case",
        readers: H11,
        says: "keeps the value as it came; it makes it lower case.",
        holds: |case| {
            let lower = |fields: &Fields| {
                let value = |(name, value): &(String, Vec<u8>)| match &**name {
                    "transfer-encoding" => (name.clone(), value.to_ascii_lowercase()),
                    _ => (name.clone(), value.clone()),
                };
                fields.iter().map(value).collect::<Fields>()
            };
            matches!(case.theirs, Verdict::Taken { .. }) && lower(case.ours.fields()) == *case.theirs.fields()
        },
    },
    Class {
        name: "switching protocols",
        readers: H11,
        says: "takes 101 after a request with `connection: upgrade`; it asks for more of the request.",
        holds: |case| {
            matches!(&case.ours, Verdict::Taken { begins, .. } if begins == "101") && case.taken_alone()
        },
    },
];

fn has_lone_line_feed(bytes: &[u8]) -> bool {
    let before = std::iter::once(&0).chain(bytes);
    bytes.iter().zip(before).any(|(byte, before)| *byte == b'\n' && *before != b'\r')
}
