//! Changes of data types, decided on what is stored at the moment of the write.

use std::sync::Arc;

use alula::Status;

use super::kept::{Kept, Reader, media_type};
use super::operation::Asked;
use super::{charge, json};
use crate::budget::{Budget, Share};
use crate::config::Config;
use crate::engine::{Decide, EngineError, Mark, Verdict};
use crate::http::answer::fail::Fail;
use crate::model::types::{Change, State, Unfit};
use crate::model::{self, Attribute, Context, Damaged, NewContent, Record, Refused, Rules};
use crate::store::Shared;

/// A change that an engine carries out, with the answer to it. It keeps no state from its decision to its
/// answer.
#[derive(Debug)]
pub(crate) struct Update {
    reader: Reader,
    shows: Shows,
    asked: Asked,
    rules: Rules,
    room: Room,
    /// The content of the answer after the last decision, or the reason for its absence.
    outcome: Result<Vec<u8>, Refusal>,
}

/// The content of the answer to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    Nothing,
    /// The new value in JSON.
    Value {
        /// The context beside it.
        with_context: bool,
    },
    /// The digits of a counter.
    Number,
}

/// The room of a change, which it gives back with its answer.
#[derive(Debug)]
struct Room {
    budget: Arc<Budget>,
    share: Share,
    /// The bytes of the operation.
    operation_bytes: u64,
}

/// The reason for which a change is not made.
#[derive(Debug)]
enum Refusal {
    Undecided,
    /// The budget has no room for so many bytes now. The change can be made when it has.
    NoRoom(u64),
    Unfit(Unfit),
    Refused(Refused),
    Damaged(Damaged),
}

impl Update {
    pub(super) fn new<E>(
        (reader, shows): (Reader, Shows),
        (asked, operation_bytes): (Asked, u64),
        shared: &Shared<E>,
        share: Share,
    ) -> Self {
        let room = Room { budget: Arc::clone(&shared.budget), share, operation_bytes };
        Self::within((reader, shows), asked, &shared.config, room)
    }

    fn within((reader, shows): (Reader, Shows), asked: Asked, config: &Config, room: Room) -> Self {
        // States take the place of each other by the dots that were read, whatever the bucket does with other
        // contents.
        let rules = Rules {
            allow_mult: true,
            last_write_wins: false,
            siblings_max: config.siblings_max,
            bytes_max: config.object_bytes_max,
        };
        Self { reader, shows, asked, rules, room, outcome: Err(Refusal::Undecided) }
    }

    /// Returns the bytes for which there was no room at the last decision.
    pub(super) const fn lacks(&self) -> Option<u64> {
        match self.outcome {
            Err(Refusal::NoRoom(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the share of the change; a decision that waits to be made keeps its room.
    pub(super) const fn share(&mut self) -> &mut Share {
        &mut self.room.share
    }

    /// Returns the content of the answer, with its share.
    ///
    /// # Errors
    /// The change was refused.
    pub(super) fn into_answer(self) -> Result<(Vec<u8>, Share), Fail> {
        Ok((self.outcome?, self.room.share))
    }

    fn changed(
        &mut self,
        stored: Option<Record<'_>>,
        mark: Mark,
        out: &mut Vec<u8>,
    ) -> Result<Vec<u8>, Refusal> {
        self.room.take(stored, self.shows != Shows::Nothing)?;
        let Kept { state, replaced } = self.reader.read(stored)?;
        let mut state = self.reader.state_to_change(state);
        // It was read with the operation.
        let context = self.asked.context.as_deref().and_then(|bytes| Context::read(bytes).ok());
        let change = Change { dot: mark.dot, now: mark.now, context };
        state.change(&self.asked.operation, &change)?;
        let mut covered = Vec::new();
        self.write(stored, Context::of(replaced, &mut covered), &state, mark, out)?;
        Ok(self.shows.content(&state))
    }

    fn write(
        &self,
        stored: Option<Record<'_>>,
        context: Context<'_>,
        state: &State<'_>,
        mark: Mark,
        out: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let (mut attributes, mut value) = (Vec::new(), Vec::with_capacity(value_bytes(stored)));
        Attribute::MediaType(media_type(self.reader.kind()).as_bytes()).write(&mut attributes);
        state.write(&mut value);
        let new = NewContent {
            dot: mark.dot,
            vtag: mark.vtag,
            now: mark.now,
            is_deleted: false,
            attributes: &attributes,
            value: &value,
        };
        model::write(stored, context, &new, &self.rules, out)
    }
}

impl Decide for Update {
    fn decide(&mut self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Verdict {
        self.outcome = self.changed(stored, mark, out);
        match &self.outcome {
            Ok(content) => {
                self.room.keep(out.len() + content.capacity());
                Verdict::Write
            }
            Err(_) => {
                // What it is still to become is taken again, if it is decided once more.
                self.room.share.shrink(self.asked.held_bytes() as u64);
                Verdict::Keep
            }
        }
    }
}

impl Shows {
    fn content(self, state: &State<'_>) -> Vec<u8> {
        let mut content = Vec::new();
        match self {
            Self::Nothing => {}
            Self::Value { with_context } => json::put_answer(state, with_context, &mut content),
            Self::Number => json::put_value(state.value(), &mut content),
        }
        content
    }
}

impl Room {
    /// Takes the room for a decoded record and for its successor, if there is enough.
    fn take(&mut self, stored: Option<Record<'_>>, is_shown: bool) -> Result<(), Refusal> {
        let change = stored.map_or(0, |record| charge::of_change(record, is_shown));
        let bytes = self.operation_bytes + change;
        self.budget.grow(&mut self.share, bytes).map_err(|_| Refusal::NoRoom(bytes))
    }

    /// Gives back all room but that of the operation and of so many bytes.
    fn keep(&mut self, bytes: usize) {
        self.share.shrink(self.operation_bytes + bytes as u64);
    }
}

/// Returns the bytes of a value that replaces one of about as many.
fn value_bytes(stored: Option<Record<'_>>) -> usize {
    /// A change adds a few elements to a large value.
    const MORE: usize = 256;
    stored.and_then(|record| record.single()).map_or(0, |content| content.value().len() + MORE)
}

impl From<Unfit> for Refusal {
    fn from(unfit: Unfit) -> Self {
        Self::Unfit(unfit)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Damaged> for Refusal {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

impl From<Refusal> for Fail {
    fn from(refusal: Refusal) -> Self {
        let internal = |error: &dyn std::fmt::Display| {
            Self::text(Status::INTERNAL_SERVER_ERROR, format!("Error:\n{error}\n"))
        };
        match refusal {
            Refusal::NoRoom(_) => crate::budget::Spent.into(),
            Refusal::Unfit(unfit @ Unfit::Dot) => internal(&unfit),
            Refusal::Unfit(unfit @ (Unfit::Elements | Unfit::Sketches)) => {
                Self::text(Status::CONTENT_TOO_LARGE, format!("The operation was not carried out: {unfit}\n"))
            }
            Refusal::Unfit(unfit) => {
                Self::bad_request(format!("The operation was not carried out: {unfit}\n"))
            }
            Refusal::Refused(refused @ Refused::Bytes { .. }) => {
                Self::text(Status::CONTENT_TOO_LARGE, format!("{refused}\n"))
            }
            Refusal::Refused(refused) => internal(&refused),
            Refusal::Damaged(damaged) => EngineError::from(damaged).into(),
            Refusal::Undecided => internal(&"the storage engine decided nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::datatype::json_of_value;
    use crate::http::datatype::operation::parse;
    use crate::model::types::{Kind, Precision, Value};
    use crate::model::{Actor, Dots, Moment, Vtag};

    struct Object {
        dots: Dots,
        record: Vec<u8>,
    }

    impl Object {
        fn new() -> Self {
            Self { dots: Dots::new(Actor::new(5)), record: Vec::new() }
        }

        fn record(&self) -> Option<Record<'_>> {
            (!self.record.is_empty()).then(|| Record::read(&self.record).expect("a record that was written"))
        }

        fn mark(&self) -> Mark {
            Mark {
                dot: self.dots.next().expect("far from the last"),
                vtag: Vtag::from_bits(1),
                now: Moment::from_micros(1),
            }
        }

        /// Stores a content beside all others.
        fn put(&mut self, is_deleted: bool, media_type: &str, value: &[u8]) {
            let (mut attributes, mut out) = (Vec::new(), Vec::new());
            Attribute::MediaType(media_type.as_bytes()).write(&mut attributes);
            let Mark { dot, vtag, now } = self.mark();
            let new = NewContent { dot, vtag, now, is_deleted, attributes: &attributes, value };
            let rules =
                Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, bytes_max: 1 << 20 };
            model::write(self.record(), Context::EMPTY, &new, &rules, &mut out)
                .expect("few and short contents");
            self.record = out;
        }

        fn change(&mut self, reader: Reader, json: &str) -> Result<State<'_>, Fail> {
            let asked = parse(reader.kind(), json.as_bytes()).expect("an operation");
            let config = Config::default();
            let budget = Arc::new(Budget::new(config.bytes_in_flight_max, config.object_bytes_max));
            let room = Room { budget, share: Share::default(), operation_bytes: 0 };
            let mut update = Update::within((reader, Shows::Nothing), asked, &config, room);
            let mut out = Vec::new();
            if update.decide(self.record(), self.mark(), &mut out) == Verdict::Write {
                self.record = out;
            }
            update.into_answer()?;
            Ok(reader.read(self.record()).map_err(EngineError::from)?.state.expect("it was written"))
        }

        fn contents(&self) -> usize {
            self.record().map_or(0, |record| record.contents().len())
        }
    }

    fn count(state: &State<'_>) -> i128 {
        let Value::Counter(counter) = state.value() else { panic!("{state:?}") };
        counter.value()
    }

    const COUNTER: Reader = Reader::typed(
        Kind::Counter,
        match Precision::new(14) {
            Some(precision) => precision,
            None => panic!("14 is within the bounds"),
        },
    );

    #[test]
    fn an_object_has_one_content_however_often_it_is_changed() {
        let mut object = Object::new();
        for number in 1..=5 {
            assert_eq!(object.change(COUNTER, "1").map(|state| count(&state)).ok(), Some(number));
            assert_eq!(object.contents(), 1);
        }
    }

    /// States that two replicas have written apart are siblings until the next change.
    #[test]
    fn siblings_are_merged() {
        let (mut one, mut other) = (Object::new(), Object::new());
        other.dots = Dots::new(Actor::new(6));
        one.change(COUNTER, "3").expect("it fits");
        other.change(COUNTER, "4").expect("it fits");
        let state = other.record().and_then(|record| record.single()).expect("one").value().to_vec();
        one.put(false, media_type(Kind::Counter), &state);
        assert_eq!(one.contents(), 2);
        assert_eq!(one.change(COUNTER, "-1").map(|state| count(&state)).ok(), Some(6));
        assert_eq!(one.contents(), 1);
    }

    #[test]
    fn any_number_of_siblings_is_merged() {
        for count in 1..=9 {
            let mut object = Object::new();
            for actor in 0..count {
                let mut other = Object::new();
                other.dots = Dots::new(Actor::new(10 + actor));
                other.change(COUNTER, "3").expect("it fits");
                let state = other.record().and_then(|record| record.single()).expect("one").value().to_vec();
                object.put(false, media_type(Kind::Counter), &state);
            }
            assert_eq!(object.contents() as u64, count);
            let counted = object.change(COUNTER, "0").map(|state| self::count(&state));
            assert_eq!(counted.ok(), Some(i128::from(3 * count)), "{count} siblings");
        }
    }

    #[test]
    fn a_deleted_object_begins_anew() {
        let mut object = Object::new();
        object.put(true, "text/plain", b"");
        assert_eq!(object.change(COUNTER, "3").map(|state| count(&state)).ok(), Some(3));
        assert_eq!(object.contents(), 1);
        object.put(true, "text/plain", b"");
        assert_eq!(
            object.change(COUNTER, "3").map(|state| count(&state)).ok(),
            Some(6),
            "what was not deleted"
        );
        assert_eq!(object.contents(), 1);
    }

    #[test]
    fn contents_that_are_no_counters_stay_beside_them_in_untyped_buckets() {
        let mut object = Object::new();
        object.put(false, "text/plain", b"hello");
        object.put(false, media_type(Kind::Counter), b"no state");
        let reader = Reader::untyped_counter();
        for number in 1..=3 {
            assert_eq!(object.change(reader, "1").map(|state| count(&state)).ok(), Some(number));
            assert_eq!(object.contents(), 3);
        }
    }

    #[test]
    fn a_damaged_state_of_a_typed_bucket_is_told_and_stays() {
        let mut object = Object::new();
        object.put(false, media_type(Kind::Counter), b"no state");
        let before = object.record.clone();
        assert!(matches!(object.change(COUNTER, "1"), Err(Fail::Engine(EngineError::Unreadable(_)))));
        assert_eq!(object.record, before);
    }

    /// A read of a data type through the resource of objects is shown its value in JSON.
    #[test]
    fn the_value_of_an_object_is_shown_if_all_of_it_is_one_data_type() {
        let shown = |object: &Object| {
            let shown = json_of_value(object.record()?)?;
            Some(String::from_utf8(shown).expect("JSON is UTF-8"))
        };
        let mut object = Object::new();
        assert_eq!(shown(&object), None);
        object.change(COUNTER, "3").expect("it fits");
        assert_eq!(shown(&object), Some("3".to_owned()));
        object.put(false, "text/plain", b"3");
        assert_eq!(shown(&object), None, "a sibling of another kind");
        let mut object = Object::new();
        let reader = Reader::typed(Kind::Set, Precision::default());
        object.change(reader, r#"{"add_all":["b","a"]}"#).expect("it fits");
        assert_eq!(shown(&object), Some(r#"["a","b"]"#.to_owned()));
        object.put(true, "text/plain", b"");
        assert_eq!(shown(&object), Some(r#"["a","b"]"#.to_owned()), "beside a deletion");
        let mut object = Object::new();
        object.put(true, "text/plain", b"");
        assert_eq!(shown(&object), None, "deleted");
        object.put(false, "application/riak_set", b"no state");
        assert_eq!(shown(&object), None, "a media type that a client made up");
    }

    #[test]
    fn a_lower_precision_reduces_what_is_counted() {
        let mut object = Object::new();
        let reader = |bits| Reader::typed(Kind::Distinct, Precision::new(bits).expect("4 to 16"));
        let bits = |state: State<'_>| {
            let Value::Distinct(distinct) = state.value() else { panic!("{state:?}") };
            distinct.precision().bits()
        };
        for (asked, expected) in [(14, 14), (10, 10), (14, 10), (4, 4)] {
            assert_eq!(object.change(reader(asked), r#"{"add":"a"}"#).map(bits).ok(), Some(expected));
        }
    }
}
