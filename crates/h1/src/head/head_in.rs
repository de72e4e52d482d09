//! Heads and trailers that are received (RFC 9112 §2 to §5): each line is checked while it is read into the
//! field section.
//!
//! Rule 1: a line is used up when all of it is here. The checked part of an unfinished line is remembered,
//! and not checked again: a head that comes byte by byte costs no more than one that comes at once.
//! Rule 2: no line is looked at beyond the limit, and the first fault is reported: how a head is cut changes
//! nothing.
//! Rule 3: a fault that RFC 9112 lets a recipient forgive is refused, unless the configuration names it.

mod fields;
mod usual;

use alloc::vec::Vec;

use alula_fields::{Head, KnownName, Status, bytes};
use alula_machine::{Exceeded, Limits};

use crate::config::{Config, Leniency};
use crate::guard::facts::Facts;
use crate::guard::violation::Violation;
use crate::head::known_head::KnownHead;
use crate::head::line;
use crate::head::start_line::{self, RequestLine};

/// The part that begins with the next byte.
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
    /// The start line was read.
    has_started: bool,
    /// An empty line was skipped before it.
    has_skipped: bool,
    unfinished: Unfinished,
    /// The bytes of the earlier lines, without an empty one before a request.
    bytes: usize,
    /// The number of the line in the last head whose name is expected next.
    expected: usize,
    fields_left: u32,
    crumbs_left: u32,
    /// The last field may go on in a folded line.
    may_fold: bool,
    /// The last valid host.
    host: Vec<u8>,
    pub(crate) known: KnownHead,
    /// The start of a head that will be remembered: it is complete, and read line by line.
    began: Option<Began>,
    pub(crate) facts: Facts,
    /// The response answers CONNECT: with a status of 2xx its statements about content are ignored (RFC 9110
    /// §9.3.6).
    pub(crate) answers_connect: bool,
}

/// The part of a line that is here, of which the rest has not come.
#[derive(Default)]
struct Unfinished {
    /// The number of checked bytes.
    seen: usize,
    /// The position of the colon, plus one; zero until the colon is here.
    colon: usize,
}

impl Unfinished {
    /// Returns the position of the first control, beginning behind the checked bytes; those before it are
    /// checked then.
    #[inline]
    fn find_control(&mut self, input: &[u8]) -> Option<usize> {
        let control = bytes::position_of_control(&input[self.seen..]).map(|at| self.seen + at);
        self.seen = control.unwrap_or(input.len());
        control
    }
}

/// The part of the configuration that concerns heads.
struct Rules {
    lenient: Leniency,
    keep_spelling: bool,
    scheme: &'static str,
    head_bytes: usize,
    /// The bound is temporarily less than the limit.
    is_bounded: bool,
    target_bytes: usize,
    fields: u32,
    crumbs: u32,
}

/// The outcome of reading some input.
pub(crate) struct Step {
    pub(crate) consumed: usize,
    /// The head is complete.
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
            unfinished: Unfinished::default(),
            bytes: 0,
            expected: 0,
            fields_left: rules.fields,
            crumbs_left: rules.crumbs,
            may_fold: false,
            host: Vec::new(),
            known: KnownHead::default(),
            began: None,
            facts: Facts::default(),
            answers_connect: false,
            rules,
        }
    }

    /// Sets the scheme of requests that do not name one.
    pub(crate) fn assume_scheme(&mut self, scheme: &'static str) {
        self.rules.scheme = scheme;
    }

    /// Bounds heads to so many bytes, if the limit is larger.
    pub(crate) fn bound(&mut self, bytes: u32, limits: &Limits) {
        self.rules.is_bounded = bytes < limits.head_bytes;
        // Never less than was read already: the next byte of that head is too much then.
        let read = self.bytes + self.unfinished.seen;
        self.rules.head_bytes = (limits.head_bytes.min(bytes) as usize).max(read);
    }

    /// Resets it for the next head.
    #[inline]
    pub(crate) fn begin(&mut self, kind: Kind) {
        self.kind = kind;
        self.has_started = kind == Kind::Trailers;
        self.has_skipped = false;
        self.unfinished = Unfinished::default();
        (self.bytes, self.expected) = (0, 0);
        (self.fields_left, self.crumbs_left) = (self.rules.fields, self.rules.crumbs);
        self.may_fold = false;
        if kind != Kind::Trailers {
            self.facts = Facts::default();
        }
    }

    /// Returns true if a part of the head was read.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.bytes > 0 || self.unfinished.seen > 0
    }

    /// Returns true once the start line was read.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    /// Returns the bytes of the lines that were read of this head; none if it was recognised as a whole.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the complete lines into `head`, which is emptied before the first of them.
    #[inline]
    pub(crate) fn read(&mut self, input: &[u8], head: &mut Head) -> Result<Step, Violation> {
        if !self.has_started
            && let Some(consumed) = self.known.find(input)
        {
            self.facts = self.known.give(head);
            return Ok(Step { consumed, is_done: true });
        }
        if !self.has_begun() && self.kind != Kind::Trailers {
            head.clear();
            head.make_room();
        }
        self.read_lines(input, head)
    }

    fn read_lines(&mut self, input: &[u8], head: &mut Head) -> Result<Step, Violation> {
        let mut consumed = 0;
        self.began = None;
        loop {
            if self.has_started && self.unfinished.seen == 0 {
                consumed += self.usual_lines(input, consumed, head)?;
            }
            let rest = &input[consumed..];
            // One byte beyond the limit is enough to see that the head is too long, however much has come.
            let line = &rest[..rest.len().min((self.rules.head_bytes - self.bytes).saturating_add(1))];
            let had_started = self.has_started;
            let Some(Line { len, is_last }) = self.line(line, head)? else {
                return match self.wait(line.len()) {
                    Ok(()) => Ok(Step { consumed, is_done: false }),
                    Err(rule) => Err(self.outgrown(rule, rest.len())),
                };
            };
            let start = consumed;
            consumed += len;
            self.unfinished = Unfinished::default();
            if self.has_started {
                self.bytes += len;
            }
            if self.bytes > self.rules.head_bytes {
                return Err(Violation::HEAD_LONG);
            }
            if !had_started && self.has_started {
                if let Some(more) = self.known_fields(&input[consumed..], head) {
                    head.set_received_bytes(self.bytes as u32);
                    return Ok(Step { consumed: consumed + more, is_done: true });
                }
                self.began = self.known.begins().then_some(Began { at: start, start_bytes: len });
            }
            if is_last {
                head.set_received_bytes(self.bytes as u32);
                self.keep(&input[..consumed], head);
                return Ok(Step { consumed, is_done: true });
            }
        }
    }

    fn keep(&mut self, input: &[u8], head: &Head) {
        if let Some(Began { at, start_bytes }) = self.began {
            self.known.keep(&input[at..], start_bytes, &self.host, head, &self.facts);
        }
    }

    /// Reads all fields at once if they are those of the last head, and returns their length.
    #[inline]
    fn known_fields(&mut self, input: &[u8], head: &mut Head) -> Option<usize> {
        let bytes = self.known.find_fields(input)?;
        // An authority in the target has to agree with `host` (RFC 9112 §3.2), which needs the fields one by
        // one.
        if self.bytes + bytes > self.rules.head_bytes || head.has_pseudo(KnownName::PSEUDO_AUTHORITY) {
            return None;
        }
        self.bytes += bytes;
        self.facts = self.known.give_fields(head, self.facts.is_old);
        Some(bytes)
    }

    /// Checks an unfinished line against the limit.
    fn wait(&self, unfinished: usize) -> Result<(), Violation> {
        // A request line of its own length limit is answered by 414, not by 431 (RFC 9110 §15.5.15).
        if self.kind == Kind::Request && !self.has_started && unfinished > self.rules.request_line_bytes() {
            return Err(Violation::TARGET_LONG);
        }
        if self.bytes + unfinished > self.rules.head_bytes { Err(Violation::HEAD_LONG) } else { Ok(()) }
    }

    /// Records how much of a head that is too long was seen.
    #[cold]
    fn outgrown(&mut self, rule: Violation, unfinished: usize) -> Violation {
        self.bytes += unfinished;
        rule
    }

    /// Returns the limit behind a broken rule, with the amount seen.
    #[cold]
    pub(crate) fn exceeded(&self, rule: Violation) -> Option<Exceeded> {
        let bytes = self.bytes as u64;
        match rule {
            Violation::HEAD_LONG if self.rules.is_bounded => {
                Some(Exceeded::FIRST_HEAD_BYTES.of(bytes, self.rules.head_bytes as u64))
            }
            Violation::HEAD_LONG => Some(Exceeded::HEAD_BYTES.of(bytes, self.rules.head_bytes as u64)),
            Violation::TARGET_LONG => Some(Exceeded::TARGET_BYTES.of(bytes, self.rules.target_bytes as u64)),
            Violation::FIELDS_MANY => {
                Some(Exceeded::FIELDS.of(u64::from(self.rules.fields) + 1, u64::from(self.rules.fields)))
            }
            _ => None,
        }
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
            // White space at the start continues the field before (`obs-fold`, RFC 9112 §5.2).
            Some(byte) if BLANKS.contains(byte) => self.folded(input, head),
            Some(_) => self.field_line(input, head),
        }
    }

    fn start_line(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        if self.unfinished.seen == 0
            && let Some(len) = self.usual_start_line(input, head)
        {
            return Ok(Some(Line { len, is_last: false }));
        }
        let (most, rule) = match self.kind {
            Kind::Response => (usize::MAX, Violation::STATUS_LINE),
            Kind::Request | Kind::Trailers => {
                (self.rules.request_line_bytes().saturating_add(1), Violation::REQUEST_LINE)
            }
        };
        let input = &input[..input.len().min(most)];
        let Some(at) = self.unfinished.find_control(input) else {
            return start_line::may_begin(input, self.kind == Kind::Response).map(|()| None);
        };
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

    /// Reads a complete line in the usual form; returns its length.
    #[inline]
    fn usual_start_line(&mut self, input: &[u8], head: &mut Head) -> Option<usize> {
        let len = match self.kind {
            Kind::Response if input.starts_with(start_line::OK) => {
                head.set_status(Status::OK);
                start_line::OK.len()
            }
            Kind::Request => {
                let (line, len) = RequestLine::usual(input)?;
                if line.target.len() > self.rules.target_bytes {
                    return None;
                }
                line.put_usual(head, self.rules.scheme);
                len
            }
            Kind::Response | Kind::Trailers => return None,
        };
        self.has_started = true;
        Some(len)
    }

    fn request_line(&mut self, line: &[u8], head: &mut Head) -> Result<(), Violation> {
        let line = RequestLine::split(line)?;
        if line.target.len() > self.rules.target_bytes {
            self.bytes = line.target.len();
            return Err(Violation::TARGET_LONG);
        }
        self.facts.is_old = line.is_old;
        line.put(head, self.rules.scheme)?;
        self.facts.is_authority_in_target = head.has_pseudo(KnownName::PSEUDO_AUTHORITY);
        Ok(())
    }

    /// Accepts one empty line before a request, which some clients send after the content of the request
    /// before (RFC 9112 §2.2).
    fn empty_line(&mut self) -> Result<(), Violation> {
        match self.kind {
            // RFC 9112 §2.2 forgives an empty line before requests only.
            Kind::Response => Err(Violation::STATUS_LINE),
            _ if core::mem::replace(&mut self.has_skipped, true) => Err(Violation::EMPTY_LINES),
            _ => Ok(()),
        }
    }

    /// Reads a line that was partly checked before, or that is not in the usual form.
    fn field_line(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        let is_name_new = self.unfinished.colon == 0;
        if is_name_new && !self.find_colon(input)? {
            return Ok(None);
        }
        let control = self.unfinished.find_control(input);
        let at = self.unfinished.seen;
        let end = control.map_or(Ok(None), |_| line::end(input, at, self.rules.lenient.bare_lf));
        let name = &input[..self.unfinished.colon - 1];
        let Ok(Some(end)) = end else {
            // The name comes first, and so does what is wrong with it.
            if is_name_new || end.is_err() {
                self.checked(name)?;
            }
            return end.map(|_| None);
        };
        self.store(name, trimmed(&input[self.unfinished.colon..at]), head)?;
        Ok(Some(Line { len: at + end, is_last: false }))
    }

    /// Finds the end of the name; an invalid byte in it is reported at once, before the line ends.
    #[inline]
    fn find_colon(&mut self, input: &[u8]) -> Result<bool, Violation> {
        let line = &mut self.unfinished;
        match bytes::position(&input[line.seen..], b':') {
            Some(at) => {
                line.colon = line.seen + at + 1;
                line.seen = line.colon;
                Ok(true)
            }
            None if bytes::is_token(&input[line.seen..]) || line.seen == input.len() => {
                line.seen = input.len();
                Ok(false)
            }
            None => self.checked(input).map(|_| false),
        }
    }

    /// Returns the name if it is valid, without white space after it if that is forgiven.
    #[cold]
    fn checked<'n>(&self, name: &'n [u8]) -> Result<&'n [u8], Violation> {
        let without = bytes::trim(name);
        match bytes::is_token(without) {
            true if without.len() == name.len() || self.rules.lenient.space_before_colon => Ok(without),
            _ => Err(name_error(name)),
        }
    }

    /// Joins a continuation line to the value before it (RFC 9112 §5.2).
    #[cold]
    fn folded(&mut self, input: &[u8], head: &mut Head) -> Result<Option<Line>, Violation> {
        // A folded value that frames or routes the message could be read in two ways, so it is never
        // forgiven.
        if !self.rules.lenient.folded_lines || !self.may_fold || self.rules.keep_spelling {
            return Err(Violation::FOLDED);
        }
        let Some(at) = self.unfinished.find_control(input) else {
            return Ok(None);
        };
        let Some(end) = line::end(input, at, self.rules.lenient.bare_lf)? else { return Ok(None) };
        let more = bytes::trim(&input[..at]);
        if !more.is_empty() {
            let has_value = head.fields.iter().next_back().is_some_and(|field| !field.value().is_empty());
            head.fields.extend_last(if has_value { b" " } else { b"" });
            head.fields.extend_last(more);
        }
        Ok(Some(Line { len: at + end, is_last: false }))
    }
}

impl Rules {
    /// Returns the most bytes of a request line.
    const fn request_line_bytes(&self) -> usize {
        /// The bytes of method and version beside the target.
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
            is_bounded: false,
            target_bytes: limits.target_bytes as usize,
            fields: limits.fields,
            crumbs: limits.cookie_crumbs,
        }
    }
}

/// The position of a head in the input, and the length of its start line.
#[derive(Clone, Copy)]
struct Began {
    at: usize,
    start_bytes: usize,
}

struct Line {
    /// The number of its bytes, with its end.
    len: usize,
    /// True for the empty line after the fields.
    is_last: bool,
}

/// Returns a value without white space around it; nearly all have one space before it and none after.
#[inline]
fn trimmed(value: &[u8]) -> &[u8] {
    match value {
        [b' ', rest @ ..] => match rest {
            [first, .., last] if *first > b' ' && *last > b' ' => rest,
            _ => bytes::trim(rest),
        },
        _ => bytes::trim(value),
    }
}

/// Returns the rule that a name or a line without a colon breaks, by its first invalid byte.
#[cold]
fn name_error(line: &[u8]) -> Violation {
    match line.iter().find(|byte| !bytes::is_token(&[**byte])) {
        Some(b'\r' | b'\n') => Violation::COLON_MISSING,
        Some(byte) if BLANKS.contains(byte) => Violation::SPACE_BEFORE_COLON,
        _ => Violation::NAME_INVALID,
    }
}
