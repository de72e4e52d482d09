//! Changes of data types, decided with what is stored at the moment of the write.

use alula::Status;

use super::kept::{Kept, Reader, media_type};
use super::operation::Asked;
use crate::config::Config;
use crate::engine::{Decide, EngineError, Mark, Verdict};
use crate::http::fail::Fail;
use crate::model::types::{Change, State, Unfit};
use crate::model::{self, Attribute, Context, Damaged, NewContent, Record, Refused, Rules};

/// A change that an engine carries out, with what it came to.
#[derive(Debug)]
pub(crate) struct Update {
    reader: Reader,
    asked: Asked,
    rules: Rules,
    /// The state after the last decision, or the reason for which there is none.
    outcome: Result<State, Refusal>,
}

/// The reason for which a change is not made.
#[derive(Debug)]
enum Refusal {
    Undecided,
    Unfit(Unfit),
    Refused(Refused),
    Damaged(Damaged),
}

impl Update {
    pub(crate) fn new(reader: Reader, asked: Asked, config: &Config) -> Self {
        // States take the place of each other by the dots that were read, whatever the bucket does with other contents.
        let rules = Rules {
            allow_mult: true,
            last_write_wins: false,
            siblings_max: config.siblings_max,
            octets_max: config.object_octets_max,
        };
        Self { reader, asked, rules, outcome: Err(Refusal::Undecided) }
    }

    /// The state after the write.
    ///
    /// # Errors
    /// The change was refused.
    pub(crate) fn into_state(self) -> Result<State, Fail> {
        self.outcome.map_err(Fail::from)
    }

    fn changed(&self, stored: Option<Record<'_>>, mark: Mark, out: &mut Vec<u8>) -> Result<State, Refusal> {
        let Kept { state, replaced } = self.reader.read(stored)?;
        let mut changed = self.reader.new_state();
        if let Some(state) = state {
            changed.merge(&state);
        }
        // It was read with the operation.
        let context = self.asked.context.as_deref().and_then(|octets| Context::read(octets).ok());
        let change = Change { dot: mark.dot, now: mark.now, context };
        changed.change(self.asked.operation.clone(), &change)?;
        let mut covered = Vec::new();
        self.write(stored, Context::of(replaced, &mut covered), &changed, mark, out)?;
        Ok(changed)
    }

    fn write(
        &self,
        stored: Option<Record<'_>>,
        context: Context<'_>,
        state: &State,
        mark: Mark,
        out: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let (mut attributes, mut value) = (Vec::new(), Vec::new());
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
        if self.outcome.is_ok() { Verdict::Write } else { Verdict::Keep }
    }
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
            Refusal::Unfit(unfit @ Unfit::Dot) => internal(&unfit),
            Refusal::Unfit(unfit) => {
                Self::bad_request(format!("The operation was not carried out: {unfit}\n"))
            }
            Refusal::Refused(refused @ Refused::Octets { .. }) => {
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
                Rules { allow_mult: true, last_write_wins: false, siblings_max: 100, octets_max: 1 << 20 };
            model::write(self.record(), Context::EMPTY, &new, &rules, &mut out)
                .expect("few and short contents");
            self.record = out;
        }

        fn change(&mut self, reader: Reader, json: &str) -> Result<State, Fail> {
            let asked = parse(reader.kind(), json.as_bytes()).expect("an operation");
            let mut update = Update::new(reader, asked, &Config::default());
            let mut out = Vec::new();
            if update.decide(self.record(), self.mark(), &mut out) == Verdict::Write {
                self.record = out;
            }
            update.into_state()
        }

        fn contents(&self) -> usize {
            self.record().map_or(0, |record| record.contents().len())
        }
    }

    fn count(state: &State) -> i128 {
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

    /// Those who ask for the object of a data type are shown the value in JSON.
    #[test]
    fn the_value_of_an_object_is_shown_if_all_of_it_is_one_data_type() {
        let shown = |object: &Object| {
            let shown = json_of_value(object.record()?)?;
            Some(String::from_utf8(shown.to_vec()).expect("JSON is UTF-8"))
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
        let bits = |state: State| {
            let Value::Distinct(distinct) = state.value() else { panic!("{state:?}") };
            distinct.precision().bits()
        };
        for (asked, expected) in [(14, 14), (10, 10), (14, 10), (4, 4)] {
            assert_eq!(object.change(reader(asked), r#"{"add":"a"}"#).map(bits).ok(), Some(expected));
        }
    }
}
