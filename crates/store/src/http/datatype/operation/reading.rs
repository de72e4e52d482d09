//! Reads operations while their JSON is parsed.
//!
//! A tree of values would take up to eighty times the octets of the JSON, since each object is a node of a
//! tree with room for eleven members. Here nothing is made but the operation.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::{Asked, Malformed, field_name};
use crate::model::types::{FieldName, Kind, Operation};
use crate::model::{Context, ContextError};

/// Reads an operation for a value of a kind, and the context beside it.
///
/// # Errors
/// A [`Malformed`]. One of the syntax goes before all others, wherever it is.
pub(super) fn read(kind: Kind, json: &[u8]) -> Result<Asked, Malformed> {
    let progress = Progress { wrong: RefCell::new(Malformed::Operation(kind)), context: RefCell::default() };
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let reader = Reader { progress: &progress, kind, is_whole: true };
    let read = reader.deserialize(&mut deserializer);
    match read.and_then(|operation| deserializer.end().map(|()| operation)) {
        Ok(operation) => Ok(Asked { operation, context: progress.context.into_inner() }),
        Err(error) if error.classify() != Category::Data => Err(Malformed::Json(error.to_string())),
        Err(_) => Err(match serde_json::from_slice::<IgnoredAny>(json) {
            Err(error) => Malformed::Json(error.to_string()),
            Ok(_) => progress.wrong.into_inner(),
        }),
    }
}

/// What all readers of one content share.
struct Progress {
    /// The reason for which the content is no operation, should the value that is read now be of another
    /// form.
    wrong: RefCell<Malformed>,
    context: RefCell<Option<Vec<u8>>>,
}

/// Reads one operation of a kind.
#[derive(Clone, Copy)]
struct Reader<'p> {
    progress: &'p Progress,
    kind: Kind,
    /// The operation is the whole content, and may have a context beside it.
    is_whole: bool,
}

impl Reader<'_> {
    fn expect(&self) {
        *self.progress.wrong.borrow_mut() = Malformed::Operation(self.kind);
    }

    fn fail<E: Error>(&self, malformed: Malformed) -> E {
        *self.progress.wrong.borrow_mut() = malformed;
        wrong()
    }

    /// Reads the value of a member that is no part of the operation.
    fn read_other<'de, A: MapAccess<'de>>(&self, name: &str, members: &mut A) -> Result<(), A::Error> {
        if name != "context" || !self.is_whole {
            return Err(wrong());
        }
        *self.progress.wrong.borrow_mut() = Malformed::Context(ContextError::Text);
        let text = members.next_value_seed(Text)?;
        let mut octets = Vec::new();
        if let Err(error) = Context::from_text(&text, &mut octets) {
            return Err(self.fail(Malformed::Context(error)));
        }
        *self.progress.context.borrow_mut() = Some(octets);
        self.expect();
        Ok(())
    }

    fn counter<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<Operation, A::Error> {
        let mut number = None;
        while let Some(name) = members.next_key::<String>()? {
            let is_decrement = name == "decrement";
            if number.is_some() || !(is_decrement || name == "increment") {
                self.read_other(&name, &mut members)?;
                continue;
            }
            let Number(read) = members.next_value_seed(NumberSeed)?;
            let read = if is_decrement { read.and_then(i64::checked_neg) } else { read };
            number = Some(read.ok_or_else(|| self.fail(Malformed::Number))?);
        }
        number.map(Operation::Add).ok_or_else(wrong)
    }

    fn register<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<Operation, A::Error> {
        let mut assigned = None;
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "assign" if assigned.is_none() => assigned = Some(members.next_value_seed(Text)?),
                name => self.read_other(name, &mut members)?,
            }
        }
        assigned.map(Operation::Assign).ok_or_else(wrong)
    }

    /// Reads members that name elements; `update` has such members again, once or in an array.
    fn elements<'de, A: MapAccess<'de>>(&self, mut members: A, into: &mut Elements) -> Result<(), A::Error> {
        let (is_set, mut is_empty) = (self.kind == Kind::Set, true);
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "add" => into.adds.push(members.next_value_seed(Text)?),
                "add_all" => members.next_value_seed(Texts(&mut into.adds))?,
                "remove" if is_set => into.removes.push(members.next_value_seed(Text)?),
                "remove_all" if is_set => members.next_value_seed(Texts(&mut into.removes))?,
                "update" if is_set => {
                    let reader = Reader { is_whole: false, ..*self };
                    members.next_value_seed(Again { reader, into: &mut *into, takes_many: true })?;
                }
                name => {
                    self.read_other(name, &mut members)?;
                    continue;
                }
            }
            is_empty = false;
        }
        if is_empty { Err(wrong()) } else { Ok(()) }
    }

    fn map<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<Operation, A::Error> {
        let (mut updates, mut removes, mut is_empty) = (Vec::new(), Vec::new(), true);
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "update" => updates = members.next_value_seed(Updates(*self))?,
                "remove" => removes = members.next_value_seed(Names(*self))?,
                name => {
                    self.read_other(name, &mut members)?;
                    continue;
                }
            }
            is_empty = false;
        }
        if is_empty { Err(wrong()) } else { Ok(Operation::Map { updates, removes }) }
    }
}

/// The value is of another form than the one that is expected.
fn wrong<E: Error>() -> E {
    E::custom("another form")
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Operation;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Operation, D::Error> {
        self.expect();
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Operation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operation on a {}", self.kind.name())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Operation, E> {
        if self.kind == Kind::Counter { Ok(Operation::Add(number)) } else { Err(wrong()) }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Operation, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => self.visit_f64(0.0),
        }
    }

    /// A number with a fraction, or beyond 64 bits.
    fn visit_f64<E: Error>(self, _: f64) -> Result<Operation, E> {
        Err(if self.kind == Kind::Counter { self.fail(Malformed::Number) } else { wrong() })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Operation, E> {
        match (self.kind, text) {
            (Kind::Counter, "increment") => Ok(Operation::Add(1)),
            (Kind::Counter, "decrement") => Ok(Operation::Add(-1)),
            (Kind::Flag, "enable") => Ok(Operation::Turn(true)),
            (Kind::Flag, "disable") => Ok(Operation::Turn(false)),
            (Kind::Register, text) => Ok(Operation::Assign(text.as_bytes().to_vec())),
            _ => Err(wrong()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Operation, A::Error> {
        let mut elements = Elements::default();
        match self.kind {
            Kind::Counter => self.counter(members),
            Kind::Register => self.register(members),
            Kind::Map => self.map(members),
            Kind::Set => self.elements(members, &mut elements).map(|()| elements.of_set()),
            Kind::GrowSet => self.elements(members, &mut elements).map(|()| Operation::Grow(elements.adds)),
            Kind::Distinct => self.elements(members, &mut elements).map(|()| Operation::Count(elements.adds)),
            Kind::Flag => Err(wrong()),
        }
    }
}

/// The elements that an operation on a set names.
#[derive(Debug, Default)]
struct Elements {
    adds: Vec<Vec<u8>>,
    removes: Vec<Vec<u8>>,
}

impl Elements {
    fn of_set(self) -> Operation {
        let Self { adds, mut removes } = self;
        if !removes.is_empty() {
            // What is added too is there afterwards, whatever was there before.
            let added: BTreeSet<_> = adds.iter().collect();
            removes.retain(|element| !added.contains(element));
        }
        Operation::Set { adds, removes }
    }
}

/// Reads members that name elements within others.
struct Again<'p, 'e> {
    reader: Reader<'p>,
    into: &'e mut Elements,
    takes_many: bool,
}

impl<'de> DeserializeSeed<'de> for Again<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Again<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("members that name elements")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        self.reader.elements(members, self.into)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Self { reader, into, takes_many } = self;
        if !takes_many {
            return Err(wrong());
        }
        while values.next_element_seed(Again { reader, into: &mut *into, takes_many: false })?.is_some() {}
        Ok(())
    }
}

/// Reads the operations on the fields of a map. Of a field that is named twice the last one counts.
struct Updates<'p>(Reader<'p>);

impl<'de> DeserializeSeed<'de> for Updates<'_> {
    type Value = Vec<(FieldName, Operation)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Updates<'_> {
    type Value = Vec<(FieldName, Operation)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operations by the names of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let Self(reader) = self;
        let mut updates: Self::Value = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            let name = field_name(&name).map_err(|malformed| reader.fail(malformed))?;
            let inner = Reader { kind: name.kind, is_whole: false, ..reader };
            updates.push((name, fields.next_value_seed(inner)?));
            reader.expect();
        }
        if !updates.is_sorted_by(|(one, _), (next, _)| one < next) {
            updates.sort_by(|(one, _), (other, _)| one.cmp(other));
            updates.dedup_by(|next, kept| {
                let is_again = next.0 == kept.0;
                if is_again {
                    std::mem::swap(next, kept);
                }
                is_again
            });
        }
        Ok(updates)
    }
}

/// Reads the name of a field, or an array of them.
struct Names<'p>(Reader<'p>);

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = Vec<FieldName>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_> {
    type Value = Vec<FieldName>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of fields")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        field_name(name).map(|name| vec![name]).map_err(|malformed| self.0.fail(malformed))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = values.next_element_seed(Text)? {
            let name = String::from_utf8(name).map_err(|_| wrong())?;
            names.push(field_name(&name).map_err(|malformed| self.0.fail(malformed))?);
        }
        Ok(names)
    }
}

/// Reads a string.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }
}

/// Reads an array of strings behind others.
struct Texts<'e>(&'e mut Vec<Vec<u8>>);

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while let Some(text) = values.next_element_seed(Text)? {
            self.0.push(text);
        }
        Ok(())
    }
}

/// A whole number of 64 bits with a sign, or none for any other number.
struct Number(Option<i64>);

struct NumberSeed;

impl<'de> DeserializeSeed<'de> for NumberSeed {
    type Value = Number;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for NumberSeed {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(i64::try_from(number).ok()))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Number, E> {
        Ok(Number(None))
    }
}
