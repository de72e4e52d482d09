//! Causal contexts: the dots that a client was given, in one format for every engine.
//!
//! ```text
//! version      1 byte: 1
//! per actor    its number, 8 bytes, the high ones first; actors ascend
//!   per span   low count - high count of the span before it (0 for the first), then high count - low count
//!   end        0
//! ```
//!
//! The last three are numbers in groups of seven bits. Spans of one actor ascend and do not touch, so that
//! the same dots always make the same bytes and contexts compare as bytes.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::bytes::{Bytes, put_number};
use super::dot::{Actor, Dot};

const VERSION: u8 = 1;

/// The most spans of counts that a context may name: ten times the siblings that an object may have.
pub const SPANS_MAX: usize = 1_024;

/// The dots that a client has received with an object. A write that carries it replaces these contents and no
/// others.
///
/// ```
/// use alula_store::model::{Actor, Context, Dot};
///
/// let dot = |count| Dot::new(Actor::new(7), count).expect("not the last");
/// let mut bytes = Vec::new();
/// let context = Context::of([dot(3), dot(4), dot(9)], &mut bytes);
/// assert!(context.covers(dot(4)) && !context.covers(dot(5)));
///
/// let (mut text, mut read) = (Vec::new(), Vec::new());
/// context.write_text(&mut text);
/// assert_eq!(Context::from_text(&text, &mut read), Ok(context));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a>(&'a [u8]);

/// The reason for which bytes are no context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextError {
    /// The text is not base64 with its padding.
    Text,
    /// The bytes are of no version that this store knows.
    Version,
    /// The bytes are cut off, go on too long, or are not in the form that a store writes.
    Form,
    /// A count is at its limit, [`Dot::COUNT_MAX`].
    Count,
    /// The context names more than [`SPANS_MAX`] spans of counts.
    Spans,
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("the context is not base64"),
            Self::Version => f.write_str("the context is of another version"),
            Self::Form => f.write_str("the context is damaged"),
            Self::Count => f.write_str("the context names a count at its limit"),
            Self::Spans => write!(f, "the context names more than {SPANS_MAX} spans"),
        }
    }
}

impl std::error::Error for ContextError {}

impl<'a> Context<'a> {
    /// The context of a client that has received nothing.
    pub const EMPTY: Context<'static> = Context(&[VERSION]);

    /// Writes a context of these dots, which have to ascend, over `out`.
    pub fn of(dots: impl IntoIterator<Item = Dot>, out: &'a mut Vec<u8>) -> Self {
        out.clear();
        out.push(VERSION);
        let mut writer = SpansWriter { out, actor: None, high: 0 };
        let mut span: Option<Span> = None;
        for dot in dots {
            match &mut span {
                Some(span) if span.actor == dot.actor() && span.high + 1 == dot.count() => {
                    span.high = dot.count()
                }
                _ => {
                    writer.put(span.replace(Span { actor: dot.actor(), low: dot.count(), high: dot.count() }))
                }
            }
        }
        writer.put(span);
        writer.end();
        Self(out)
    }

    /// Writes a context of these dots and all of their actors before them, over `out`. The actors ascend.
    pub(super) fn up_to(dots: impl IntoIterator<Item = Dot>, out: &'a mut Vec<u8>) -> Self {
        out.clear();
        out.push(VERSION);
        let mut writer = SpansWriter { out, actor: None, high: 0 };
        for dot in dots {
            writer.put(Some(Span { actor: dot.actor(), low: 1, high: dot.count() }));
        }
        writer.end();
        Self(out)
    }

    /// Reads a context.
    ///
    /// # Errors
    /// A [`ContextError`], for any bytes that [`Context::of`] does not write.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ContextError> {
        let context = Self(bytes);
        let mut spans = context.spans()?;
        let mut count = 0;
        while spans.read()?.is_some() {
            count += 1;
            // The client chooses the context, and each look-up passes over all of its spans.
            if count > SPANS_MAX {
                return Err(ContextError::Spans);
            }
        }
        Ok(context)
    }

    /// Reads a context from its text in a field, into `out`.
    ///
    /// # Errors
    /// As [`Context::read`], and [`ContextError::Text`] for text that is not base64 in the standard alphabet
    /// with its padding.
    pub fn from_text(text: &[u8], out: &'a mut Vec<u8>) -> Result<Self, ContextError> {
        out.clear();
        STANDARD.decode_vec(text, out).map_err(|_| ContextError::Text)?;
        Self::read(out)
    }

    /// Appends the text for a field.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let start = out.len();
        // Four letters for each three bytes that have begun.
        out.resize(start + self.0.len().div_ceil(3) * 4, 0);
        STANDARD
            .encode_slice(self.0, &mut out[start..])
            .expect("base64 has room in four letters for three bytes");
    }

    /// Returns true if the client has received the content of this dot.
    pub fn covers(&self, dot: Dot) -> bool {
        let Ok(mut spans) = self.spans() else { return false };
        while let Ok(Some(span)) = spans.read() {
            if span.actor == dot.actor() && (span.low..=span.high).contains(&dot.count()) {
                return true;
            }
        }
        false
    }

    /// Returns the bytes of the context.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    fn spans(&self) -> Result<Spans<'a>, ContextError> {
        let mut bytes = Bytes::new(self.0);
        match bytes.byte() {
            Some(VERSION) => Ok(Spans { bytes, last: None, high: 0, is_open: false }),
            _ => Err(ContextError::Version),
        }
    }
}

/// A context that is searched for many dots. Its spans are laid out in order, unless they are few.
#[derive(Debug)]
pub(super) struct Covered<'a> {
    context: Context<'a>,
    /// The spans, ascending; empty if the context itself is searched.
    spans: Vec<Span>,
}

impl<'a> Covered<'a> {
    /// Creates the search without allocating, for a short context.
    pub(super) fn of(context: Context<'a>) -> Self {
        /// Contexts that this store gives to clients of a data type are hardly longer.
        const FEW_BYTES: usize = 64;
        let mut spans = Vec::new();
        if context.0.len() > FEW_BYTES
            && let Ok(mut read) = context.spans()
        {
            while let Ok(Some(span)) = read.read() {
                spans.push(span);
            }
        }
        Self { context, spans }
    }

    /// Returns true if the context covers the dot, as [`Context::covers`] does.
    pub(super) fn covers(&self, dot: Dot) -> bool {
        if self.spans.is_empty() {
            return self.context.covers(dot);
        }
        let after = self.spans.partition_point(|span| (span.actor, span.low) <= (dot.actor(), dot.count()));
        let span = after.checked_sub(1).map(|place| self.spans[place]);
        span.is_some_and(|span| span.actor == dot.actor() && span.high >= dot.count())
    }
}

/// A run of successive counts of one actor.
#[derive(Clone, Copy, Debug)]
struct Span {
    actor: Actor,
    low: u64,
    high: u64,
}

/// The spans of a context that have not been read yet.
#[derive(Debug)]
struct Spans<'a> {
    bytes: Bytes<'a>,
    /// The actor that was read last.
    last: Option<Actor>,
    /// The high count of its last span.
    high: u64,
    /// More spans of that actor may follow.
    is_open: bool,
}

impl Spans<'_> {
    fn read(&mut self) -> Result<Option<Span>, ContextError> {
        loop {
            match self.last {
                Some(actor) if self.is_open => match self.read_of(actor)? {
                    None => self.is_open = false,
                    span => return Ok(span),
                },
                _ if self.bytes.is_empty() => return Ok(None),
                _ => self.open()?,
            }
        }
    }

    fn open(&mut self) -> Result<(), ContextError> {
        let actor = Actor::new(u64::from_be_bytes(self.bytes.array().ok_or(ContextError::Form)?));
        if self.last.is_some_and(|last| last >= actor) {
            return Err(ContextError::Form);
        }
        (self.last, self.high, self.is_open) = (Some(actor), 0, true);
        Ok(())
    }

    /// Reads the next span of an actor, which has at least one.
    fn read_of(&mut self, actor: Actor) -> Result<Option<Span>, ContextError> {
        let gap = self.bytes.number().ok_or(ContextError::Form)?;
        match (gap, self.high) {
            // An actor without spans, or a span that continues the last one: a context has one form alone.
            (0, 0) | (1, 1..) => return Err(ContextError::Form),
            (0, _) => return Ok(None),
            _ => {}
        }
        let length = self.bytes.number().ok_or(ContextError::Form)?;
        let low = self.high.checked_add(gap).ok_or(ContextError::Count)?;
        let high =
            low.checked_add(length).filter(|high| *high <= Dot::COUNT_MAX).ok_or(ContextError::Count)?;
        self.high = high;
        Ok(Some(Span { actor, low, high }))
    }
}

/// Writes spans that ascend.
struct SpansWriter<'a> {
    out: &'a mut Vec<u8>,
    actor: Option<Actor>,
    high: u64,
}

impl SpansWriter<'_> {
    fn put(&mut self, span: Option<Span>) {
        let Some(span) = span else { return };
        if self.actor != Some(span.actor) {
            self.end();
            self.out.extend_from_slice(&span.actor.number().to_be_bytes());
            (self.actor, self.high) = (Some(span.actor), 0);
        }
        put_number(span.low - self.high, self.out);
        put_number(span.high - span.low, self.out);
        self.high = span.high;
    }

    fn end(&mut self) {
        if self.actor.take().is_some() {
            self.out.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use alula_testkit::Rng;

    use super::*;

    fn dot(actor: u64, count: u64) -> Dot {
        Dot::new(Actor::new(actor), count).expect("a count within its bounds")
    }

    #[test]
    fn the_format_is_the_one_that_is_drawn() {
        let mut bytes = Vec::new();
        let context = Context::of(
            [dot(7, 3), dot(7, 4), dot(7, 200), dot(0x0102, 1)].into_iter().rev().rev(),
            &mut bytes,
        );
        let seven = [0, 0, 0, 0, 0, 0, 0, 7, 3, 1, 0xc4, 1, 0, 0];
        let second = [0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0];
        assert_eq!(context.as_bytes(), [&[1][..], &seven, &second].concat());
    }

    #[test]
    fn nothing_is_covered_by_nothing() {
        assert_eq!(Context::read(&[1]), Ok(Context::EMPTY));
        assert!(!Context::EMPTY.covers(dot(0, 1)));
        let mut bytes = Vec::new();
        assert_eq!(Context::of([], &mut bytes), Context::EMPTY);
    }

    #[test]
    fn counts_at_their_limit_are_refused() {
        let actor = [0; 8];
        let with = |numbers: &[u64]| {
            let mut bytes = [&[1][..], &actor].concat();
            numbers.iter().for_each(|number| put_number(*number, &mut bytes));
            Context::read(&bytes).map(|_| ())
        };
        assert_eq!(with(&[Dot::COUNT_MAX, 0, 0]), Ok(()));
        assert_eq!(with(&[u64::MAX, 0, 0]), Err(ContextError::Count));
        assert_eq!(with(&[1, u64::MAX, 0]), Err(ContextError::Count));
        assert_eq!(with(&[2, 0, u64::MAX, 0, 0]), Err(ContextError::Count));
    }

    #[test]
    fn one_set_of_dots_has_one_form() {
        let with =
            |numbers: &[u8]| Context::read(&[&[1, 0, 0, 0, 0, 0, 0, 0, 0], numbers].concat()).map(|_| ());
        assert_eq!(with(&[1, 0, 2, 0, 0]), Ok(()));
        assert_eq!(with(&[1, 0, 1, 0, 0]), Err(ContextError::Form), "spans that touch");
        assert_eq!(with(&[0]), Err(ContextError::Form), "an actor without a span");
        assert_eq!(with(&[1, 0]), Err(ContextError::Form), "an actor without an end");
        assert_eq!(
            with(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]),
            Err(ContextError::Form),
            "an actor twice"
        );
        assert_eq!(Context::read(&[]), Err(ContextError::Version));
        assert_eq!(Context::read(&[2]), Err(ContextError::Version));
    }

    #[test]
    fn spans_are_bounded() {
        let every_second = |count: u64| (1..=count).map(|n| dot(1, 2 * n));
        let mut bytes = Vec::new();
        let most = Context::of(every_second(SPANS_MAX as u64), &mut bytes);
        assert_eq!(Context::read(most.as_bytes()), Ok(most));
        let more = Context::of(every_second(SPANS_MAX as u64 + 1), &mut bytes).as_bytes();
        assert_eq!(Context::read(more), Err(ContextError::Spans));
    }

    #[test]
    fn a_context_covers_the_same_dots_when_it_is_laid_out() {
        let mut rng = Rng::new(7);
        for count in [0, 1, 5, 40, 400] {
            let mut dots: Vec<_> =
                (0..count).map(|_| dot(rng.below(9) as u64, 1 + rng.below(99) as u64)).collect();
            dots.sort_unstable();
            dots.dedup();
            let mut bytes = Vec::new();
            let context = Context::of(dots.iter().copied(), &mut bytes);
            let covered = Covered::of(context);
            for (actor, count) in (0..10).flat_map(|actor| (1..=101).map(move |count| (actor, count))) {
                let dot = dot(actor, count);
                assert_eq!(covered.covers(dot), dots.contains(&dot), "{dot:?}");
                assert_eq!(context.covers(dot), dots.contains(&dot), "{dot:?}");
            }
        }
    }

    #[test]
    fn text_that_is_not_base64_is_refused() {
        let mut bytes = Vec::new();
        for text in ["AQ", "AQ=", "A===", "AQ==\n", "*Q==", "-_=="] {
            assert_eq!(Context::from_text(text.as_bytes(), &mut bytes), Err(ContextError::Text), "{text}");
        }
        assert_eq!(Context::from_text(b"AQ==", &mut bytes), Ok(Context::EMPTY));
        assert_eq!(Context::from_text(b"", &mut bytes), Err(ContextError::Version));
    }

    #[test]
    fn a_context_cut_short_is_refused_unless_its_last_actor_is_whole() {
        let context = of_two_actors();
        let first_actor_end = context.len() - 11;
        for len in 0..context.len() {
            let is_whole = len == 1 || len == first_actor_end;
            assert_eq!(Context::read(&context[..len]).is_ok(), is_whole, "{len}");
        }
    }

    #[test]
    fn any_bytes_are_a_context_in_its_one_form_or_refused() {
        let mut rng = Rng::new(2);
        let context = of_two_actors();
        let mut accepted = 0;
        for _ in 0..20_000 {
            let mut changed = context.clone();
            for _ in 0..=rng.below(2) {
                let place = rng.below(changed.len());
                changed[place] = rng.byte();
            }
            let Ok(read) = Context::read(&changed) else { continue };
            assert_eq!(rewritten(read), changed);
            accepted += 1;
        }
        assert!(accepted > 1_000, "{accepted}");
    }

    fn of_two_actors() -> Vec<u8> {
        let mut bytes = Vec::new();
        Context::of([dot(1, 5), dot(1, 6), dot(1, 900), dot(2, 1)], &mut bytes);
        bytes
    }

    /// Returns the bytes that a writer makes of the spans of a context.
    fn rewritten(context: Context<'_>) -> Vec<u8> {
        let mut out = vec![VERSION];
        let mut writer = SpansWriter { out: &mut out, actor: None, high: 0 };
        let mut spans = context.spans().expect("a context that was read");
        while let Some(span) = spans.read().expect("a context that was read") {
            writer.put(Some(span));
        }
        writer.end();
        out
    }
}
