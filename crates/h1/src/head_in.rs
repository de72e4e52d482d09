//! Heads and trailers as they come (RFC 9112 §2 to §5): each line is checked as it is read and goes straight into the field
//! section.
//!
//! Rule 1: a line is used up when all of it is here. Of a line that is not, what was looked at is remembered, and not looked
//! at again: a head that comes octet by octet costs no more than one that comes at once.
//! Rule 2: no line is looked at beyond the limit, and what is wrong first is what is said: how a head is cut changes nothing.
//! Rule 3: what RFC 9112 leaves to the reader to forgive is refused, unless the configuration names it.

use alloc::vec::Vec;

use alula_fields::{Authority, FieldFlags, Head, KnownName, Limits, Status, octets};

use crate::config::{Config, Leniency};
use crate::facts::{Facts, HAS_RULES, Verdict};
use crate::line;
use crate::list;
use crate::start_line::{self, RequestLine};
use crate::violation::Violation;

/// What begins with the next octet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Request,
    Response,
    Trailers,
}

/// A head that is being read.
pub(crate) struct HeadIn {
    kind: Kind,
    rules: Rules,
    /// The start line is here.
    has_started: bool,
    /// An empty line came before it.
    has_skipped: bool,
    /// How many octets of an unfinished line were looked at, and are good.
    seen: usize,
    /// Where its colon is, plus one; zero until that is here.
    colon: usize,
    /// How many octets the lines before had, without an empty one before a request.
    octets: usize,
    fields_left: u32,
    crumbs_left: u32,
    /// The last field may go on in a folded line.
    may_fold: bool,
    /// The last host that was found good.
    host: Vec<u8>,
    pub(crate) facts: Facts,
}

/// What of the configuration concerns heads.
struct Rules {
    lenient: Leniency,
    keep_spelling: bool,
    scheme: &'static str,
    head_bytes: usize,
    target_bytes: usize,
    fields: u32,
    crumbs: u32,
}

/// What was made of the input.
pub(crate) struct Step {
    pub(crate) consumed: usize,
    /// The head is all here.
    pub(crate) is_done: bool,
}

/// Some spaces and tabs.
const BLANKS: [u8; 2] = *b" \t";

impl HeadIn {
    pub(crate) fn new(kind: Kind, config: &Config) -> Self {
        let rules = Rules::new(config);
        Self {
            kind,
            has_started: false,
            has_skipped: false,
            seen: 0,
            colon: 0,
            octets: 0,
            fields_left: rules.fields,
            crumbs_left: rules.crumbs,
            may_fold: false,
            host: Vec::new(),
            facts: Facts::default(),
            rules,
        }
    }

    /// Makes it ready for the next head.
    #[inline]
    pub(crate) fn begin(&mut self, kind: Kind) {
        self.kind = kind;
        self.has_started = kind == Kind::Trailers;
        self.has_skipped = false;
        (self.seen, self.colon, self.octets) = (0, 0, 0);
        (self.fields_left, self.crumbs_left) = (self.rules.fields, self.rules.crumbs);
        self.may_fold = false;
        if kind != Kind::Trailers {
            self.facts = Facts::default();
        }
    }

    /// Whether something of the head is here.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.octets > 0 || self.seen > 0
    }

    /// Reads as many lines as are here into `head`.
    #[inline]
    pub(crate) fn read(&mut self, input: &[u8], head: &mut Head) -> Result<Step, Violation> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let line = &rest[..rest.len().min((self.rules.head_bytes - self.octets).saturating_add(1))];
            let Some(octets) = self.line(line, head)? else {
                return self.wait(line.len()).map(|()| Step { consumed, is_done: false });
            };
            consumed += octets.len;
            (self.seen, self.colon) = (0, 0);
            if self.has_started {
                self.octets += octets.len;
            }
            if self.octets > self.rules.head_bytes {
                return Err(Violation::HEAD_LONG);
            }
            if octets.is_last {
                return Ok(Step { consumed, is_done: true });
            }
        }
    }

    /// An unfinished line stays within the limit, too.
    fn wait(&self, unfinished: usize) -> Result<(), Violation> {
        if self.kind == Kind::Request && !self.has_started && unfinished > self.rules.request_line_bytes() {
            return Err(Violation::TARGET_LONG);
        }
        if self.octets + unfinished > self.rules.head_bytes { Err(Violation::HEAD_LONG) } else { Ok(()) }
    }

    #[inline]
    fn line(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        match input.first() {
            None => Ok(None),
            Some(_) if !self.has_started => self.start_line(input, head),
            Some(b'\r' | b'\n') => {
                let end = line::end(input, 0, self.rules.lenient.bare_lf)?;
                Ok(end.map(|len| Line { len, is_last: true }))
            }
            Some(octet) if BLANKS.contains(octet) => self.folded(input, head),
            Some(_) => self.field_line(input, head),
        }
    }

    fn start_line(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        let (most, rule) = match self.kind {
            Kind::Response => (usize::MAX, Violation::STATUS_LINE),
            Kind::Request | Kind::Trailers => {
                (self.rules.request_line_bytes().saturating_add(1), Violation::REQUEST_LINE)
            }
        };
        let input = &input[..input.len().min(most)];
        let Some(at) = octets::position_of_control(&input[self.seen..]) else {
            self.seen = input.len();
            return start_line::may_begin(input, self.kind == Kind::Response).map(|()| None);
        };
        let at = self.seen + at;
        self.seen = at;
        start_line::may_begin(&input[..at], self.kind == Kind::Response)?;
        let end = line::end(input, at, self.rules.lenient.bare_lf);
        let end = end.map_err(|other| if other == Violation::VALUE_INVALID { rule } else { other })?;
        let Some(end) = end else { return Ok(None) };
        let len = at + end;
        if at == 0 {
            return self.empty_line().map(|()| Some(Line { len, is_last: false }));
        }
        match self.kind {
            Kind::Response => {
                let (status, is_old) = start_line::status(&input[..at])?;
                self.facts.is_old = is_old;
                head.set_status(status);
            }
            Kind::Request | Kind::Trailers => self.request_line(&input[..at], head)?,
        }
        self.has_started = true;
        Ok(Some(Line { len, is_last: false }))
    }

    fn request_line(&mut self, line: &[u8], head: &mut Head) -> Result<(), Violation> {
        let line = RequestLine::split(line)?;
        if line.target.len() > self.rules.target_bytes {
            return Err(Violation::TARGET_LONG);
        }
        self.facts.is_old = line.is_old;
        line.put(head, self.rules.scheme)
    }

    /// One empty line before a request is what some clients send after the content of the one before (RFC 9112 §2.2).
    fn empty_line(&mut self) -> Result<(), Violation> {
        match self.kind {
            Kind::Response => Err(Violation::STATUS_LINE),
            _ if core::mem::replace(&mut self.has_skipped, true) => Err(Violation::EMPTY_LINES),
            _ => Ok(()),
        }
    }

    #[inline]
    fn field_line(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        let is_name_new = self.colon == 0;
        if is_name_new && !self.find_colon(input)? {
            return Ok(None);
        }
        let control = octets::position_of_control(&input[self.seen..]);
        self.seen = control.map_or(input.len(), |at| self.seen + at);
        let at = self.seen;
        let end = control.map_or(Ok(None), |_| line::end(input, at, self.rules.lenient.bare_lf));
        let name = &input[..self.colon - 1];
        let Ok(Some(end)) = end else {
            // The name comes first, and so does what is wrong with it.
            if is_name_new || end.is_err() {
                self.checked(name)?;
            }
            return end.map(|_| None);
        };
        self.store(name, trimmed(&input[self.colon..at]), head)?;
        Ok(Some(Line { len: at + end, is_last: false }))
    }

    /// Finds the end of the name; what is no part of one is noticed at once, not when the line ends.
    #[inline]
    fn find_colon(&mut self, input: &[u8]) -> Result<bool, Violation> {
        match octets::position(&input[self.seen..], b':') {
            Some(at) => {
                self.colon = self.seen + at + 1;
                self.seen = self.colon;
                Ok(true)
            }
            None if octets::is_token(&input[self.seen..]) || self.seen == input.len() => {
                self.seen = input.len();
                Ok(false)
            }
            None => self.checked(input).map(|_| false),
        }
    }

    /// A name that is one, without white space after it where that is forgiven.
    #[cold]
    fn checked<'n>(&self, name: &'n [u8]) -> Result<&'n [u8], Violation> {
        let without = octets::trim(name);
        match octets::is_token(without) {
            true if without.len() == name.len() || self.rules.lenient.space_before_colon => Ok(without),
            _ => Err(name_error(name)),
        }
    }

    #[inline]
    fn store(&mut self, name: &[u8], value: &[u8], head: &mut Head) -> Result<(), Violation> {
        self.may_fold = true;
        match KnownName::lookup_folded(name) {
            Some(known) => self.store_known(known, name, value, head),
            None if octets::is_token(name) => {
                self.count(1)?;
                head.fields.push_folding(name, value, self.rules.keep_spelling);
                Ok(())
            }
            None => self.store(self.checked(name)?, value, head),
        }
    }

    #[inline]
    fn store_known(
        &mut self,
        known: KnownName,
        name: &[u8],
        mut value: &[u8],
        head: &mut Head,
    ) -> Result<(), Violation> {
        if known == KnownName::COOKIE {
            self.count_crumb()?;
        } else {
            self.count(1)?;
            if HAS_RULES[usize::from(known.id())] {
                match self.meaning(known, value, head)? {
                    Some(kept) => value = kept,
                    None => return Ok(()),
                }
            }
        }
        match self.rules.keep_spelling {
            false => head.fields.push_known(known, value, FieldFlags::NONE),
            true => head.fields.push_known_spelled(known, name, value),
        }
        Ok(())
    }

    /// A field that says something about the message: what is kept of it. Those of trailers say nothing, and are dropped
    /// (RFC 9110 §6.5.1); of a list of equal lengths one is kept (RFC 9110 §8.6).
    fn meaning<'v>(
        &mut self,
        known: KnownName,
        value: &'v [u8],
        head: &mut Head,
    ) -> Result<Option<&'v [u8]>, Violation> {
        self.may_fold = false;
        match self.kind {
            Kind::Trailers => return Ok(None),
            // A host in a response says nothing, however often.
            Kind::Response if known == KnownName::HOST => return Ok(Some(value)),
            Kind::Request | Kind::Response => {}
        }
        let may_repeat = self.rules.lenient.repeated_length || self.kind == Kind::Response;
        let verdict = self.facts.note(known, value, may_repeat)?;
        match known {
            KnownName::HOST => self.put_host(value, head).map(|()| None),
            _ if verdict == Verdict::Drop => Ok(None),
            KnownName::CONTENT_LENGTH => Ok(list::members(value).next()),
            _ => Ok(Some(value)),
        }
    }

    /// Puts the host into the control data; a target that has one must agree with it (RFC 9112 §3.2.2).
    fn put_host(&mut self, value: &[u8], head: &mut Head) -> Result<(), Violation> {
        if value != self.host.as_slice() {
            self.check_host(value)?;
        }
        match head.pseudo(KnownName::PSEUDO_AUTHORITY) {
            None => {
                head.put_pseudo(KnownName::PSEUDO_AUTHORITY, value);
                Ok(())
            }
            Some(authority) if authority.eq_ignore_ascii_case(value) => Ok(()),
            Some(_) => Err(Violation::HOST_DIFFERS),
        }
    }

    /// Checks a host that is not the one found good last, which is nearly always the next one, too.
    #[cold]
    fn check_host(&mut self, value: &[u8]) -> Result<(), Violation> {
        if !value.is_empty() && !is_authority(value) {
            return Err(Violation::HOST_INVALID);
        }
        self.host.clear();
        self.host.extend_from_slice(value);
        Ok(())
    }

    /// A line that goes on with the value of the one before (RFC 9112 §5.2).
    #[cold]
    fn folded(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        if !self.rules.lenient.folded_lines || !self.may_fold || self.rules.keep_spelling {
            return Err(Violation::FOLDED);
        }
        let Some(at) = octets::position_of_control(&input[self.seen..]) else {
            self.seen = input.len();
            return Ok(None);
        };
        let at = self.seen + at;
        self.seen = at;
        let Some(end) = line::end(input, at, self.rules.lenient.bare_lf)? else { return Ok(None) };
        let more = octets::trim(&input[..at]);
        if !more.is_empty() {
            let has_value = head.fields.iter().next_back().is_some_and(|field| !field.value().is_empty());
            head.fields.extend_last(if has_value { b" " } else { b"" });
            head.fields.extend_last(more);
        }
        Ok(Some(Line { len: at + end, is_last: false }))
    }

    #[inline]
    fn count(&mut self, fields: u32) -> Result<(), Violation> {
        self.fields_left = self.fields_left.checked_sub(fields).ok_or(Violation::FIELDS_MANY)?;
        Ok(())
    }

    fn count_crumb(&mut self) -> Result<(), Violation> {
        match self.crumbs_left.checked_sub(1) {
            Some(left) => self.crumbs_left = left,
            None => self.count(1)?,
        }
        Ok(())
    }
}

/// What a whole head means beside its lines.
impl HeadIn {
    /// Checks what the fields of a request say together, and completes its control data.
    #[inline]
    pub(crate) fn finish_request(&mut self, head: &mut Head) -> Result<(), Violation> {
        if !self.facts.has_host && !self.facts.is_old {
            return Err(Violation::HOST_MISSING);
        }
        self.finish(head)
    }

    /// Checks what the fields of a response say together. What has no content cannot have it coded (RFC 9112 §6.1).
    #[inline]
    pub(crate) fn finish_response(&mut self, head: &mut Head, status: Status) -> Result<(), Violation> {
        if self.facts.is_chunked && matches!(status.code(), 100..=199 | 204) {
            return Err(Violation::CODING_UNEXPECTED);
        }
        self.finish(head)
    }

    #[inline]
    fn finish(&mut self, head: &mut Head) -> Result<(), Violation> {
        if self.facts.settle(self.rules.lenient.length_with_coding)? {
            head.fields.remove(KnownName::CONTENT_LENGTH);
        }
        Ok(())
    }
}

impl Rules {
    /// The most that a request line has.
    const fn request_line_bytes(&self) -> usize {
        /// Method and version beside the target.
        const REST_OF_LINE_BYTES: usize = 64;
        self.target_bytes.saturating_add(REST_OF_LINE_BYTES)
    }

    fn new(config: &Config) -> Self {
        let limits: &Limits = &config.limits;
        Self {
            lenient: config.leniency,
            keep_spelling: config.keep_spelling,
            scheme: config.scheme,
            head_bytes: limits.head_bytes as usize,
            target_bytes: limits.target_bytes as usize,
            fields: limits.fields,
            crumbs: limits.cookie_crumbs,
        }
    }
}

struct Line {
    /// How many octets it has, its end included.
    len: usize,
    /// It is the empty one after the fields.
    is_last: bool,
}

/// A value without white space around it; nearly all have one space before, and nothing after.
#[inline]
fn trimmed(value: &[u8]) -> &[u8] {
    match value {
        [b' ', rest @ ..] => match rest {
            [first, .., last] if *first > b' ' && *last > b' ' => rest,
            _ => octets::trim(rest),
        },
        _ => octets::trim(value),
    }
}

fn is_authority(value: &[u8]) -> bool {
    core::str::from_utf8(value).is_ok_and(|text| Authority::parse(text).is_ok())
}

/// What is wrong with a name, or with a line that has no colon: its first octet that is in no name says it.
#[cold]
fn name_error(line: &[u8]) -> Violation {
    match line.iter().find(|octet| !octets::is_token(&[**octet])) {
        Some(b'\r' | b'\n') => Violation::COLON_MISSING,
        Some(octet) if BLANKS.contains(octet) => Violation::SPACE_BEFORE_COLON,
        _ => Violation::NAME_INVALID,
    }
}
