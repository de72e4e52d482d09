//! Data types as they are kept: each content of an object is a state, and its media type names the kind.

use crate::model::types::{Kind, Precision, State};
use crate::model::{Attribute, Content, Damaged, Dot, Record};

/// Reads the states of a kind from records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    kind: Kind,
    precision: Precision,
    /// The bucket has no type: contents that are not states are passed over, whatever their media types say.
    is_untyped: bool,
}

/// The states of a record.
#[derive(Debug, Default)]
pub(crate) struct Kept<'a> {
    /// The states of all contents merged; none for a missing or a deleted object.
    pub(super) state: Option<State<'a>>,
    /// The contents that the next state replaces: states, and marks of deletion. They ascend.
    pub(super) replaced: Vec<Dot>,
}

/// Returns the media type of a content that keeps a state of a kind.
pub(super) const fn media_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "application/riak_counter",
        Kind::Set => "application/riak_set",
        Kind::GrowSet => "application/riak_gset",
        Kind::Map => "application/riak_map",
        Kind::Distinct => "application/riak_hll",
        Kind::Register => "application/riak_register",
        Kind::Flag => "application/riak_flag",
    }
}

/// Returns the kind of state that a content keeps, by its media type.
pub(super) fn kind_of(content: &Content<'_>) -> Option<Kind> {
    let media_type_of = |attribute| match attribute {
        Ok(Attribute::MediaType(value)) => Some(value),
        _ => None,
    };
    let kept = content.attributes().find_map(media_type_of)?;
    Kind::ALL.into_iter().find(|kind| media_type(*kind).as_bytes() == kept)
}

impl Reader {
    /// Returns the states of a type.
    pub(super) const fn typed(kind: Kind, precision: Precision) -> Self {
        Self { kind, precision, is_untyped: false }
    }

    /// Returns the counters of buckets without a type.
    pub(crate) fn untyped_counter() -> Self {
        Self { kind: Kind::Counter, precision: Precision::default(), is_untyped: true }
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the state that a change begins with: the kept one, at the precision of the bucket at most, or
    /// a new one.
    pub(super) fn state_to_change<'a>(&self, kept: Option<State<'a>>) -> State<'a> {
        let Some(mut state) = kept else { return self.new_state() };
        state.reduce(self.precision);
        state
    }

    /// Returns a new state.
    fn new_state<'a>(&self) -> State<'a> {
        match self.kind {
            Kind::Distinct => State::distinct(self.precision),
            kind => State::new(kind),
        }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// A content of a typed bucket is no state of the type.
    pub(crate) fn read<'a>(&self, record: Option<Record<'a>>) -> Result<Kept<'a>, Damaged> {
        let (mut kept, mut others) = (Kept::default(), Vec::new());
        for content in record.into_iter().flat_map(|record| record.contents()) {
            if content.is_deleted() {
                kept.replaced.push(content.dot());
                continue;
            }
            match self.state_of(&content) {
                Ok(state) => {
                    kept.replaced.push(content.dot());
                    if kept.state.is_none() {
                        kept.state = Some(state);
                    } else {
                        others.push(state);
                    }
                }
                Err(_) if self.is_untyped => {}
                Err(damaged) => return Err(damaged),
            }
        }
        kept.state = kept.state.map(|state| merged(state, others));
        Ok(kept)
    }

    fn state_of<'a>(&self, content: &Content<'a>) -> Result<State<'a>, Damaged> {
        if kind_of(content) != Some(self.kind) {
            return Err(Damaged);
        }
        State::read(content.value()).ok().filter(|state| state.value().kind() == self.kind).ok_or(Damaged)
    }
}

impl<'a> Kept<'a> {
    /// Returns the merged state.
    pub(crate) fn state(&self) -> Option<&State<'a>> {
        self.state.as_ref()
    }
}

/// Merges states in pairs, and the results in pairs again, so that each is copied a few times only.
fn merged<'a>(state: State<'a>, mut others: Vec<State<'a>>) -> State<'a> {
    let mut state = state;
    while !others.is_empty() {
        let mut round = Vec::with_capacity(others.len() / 2);
        let mut rest = others.into_iter();
        if let Some(other) = rest.next() {
            state.merge(&other);
        }
        while let Some(mut one) = rest.next() {
            if let Some(other) = rest.next() {
                one.merge(&other);
            }
            round.push(one);
        }
        others = round;
    }
    state
}
