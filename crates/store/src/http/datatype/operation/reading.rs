//! Reads operations while their JSON is parsed.
//!
//! A tree of values would take up to eighty times the bytes of the JSON, since each object is a node of a
//! tree with room for eleven members. Here nothing is made but the operation, in one piece of memory.

use std::cell::RefCell;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::values::{Number, NumberSeed, Text, Texts};
use super::{Asked, Malformed, field_name};
use crate::model::types::{Draft, ElementsDraft, FieldsDraft, Kind};
use crate::model::{Context, ContextError};

/// Reads an operation for a value of a kind, and the context beside it.
///
/// # Errors
/// A [`Malformed`]. One of the syntax goes before all others, wherever it is.
pub(super) fn read(kind: Kind, json: &[u8]) -> Result<Asked, Malformed> {
    let progress = Progress {
        wrong: RefCell::new(Malformed::Operation(kind)),
        context: RefCell::default(),
        draft: RefCell::new(Draft::with_capacity(json.len())),
    };
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let reader = Reader { progress: &progress, kind, is_whole: true };
    let read = reader.deserialize(&mut deserializer);
    match read.and_then(|()| deserializer.end()) {
        Ok(()) => {
            let operation = progress.draft.into_inner().end(kind);
            Ok(Asked { operation, context: progress.context.into_inner() })
        }
        Err(error) if error.classify() != Category::Data => Err(Malformed::Json(error.to_string())),
        Err(_) => Err(match serde_json::from_slice::<IgnoredAny>(json) {
            Err(error) => Malformed::Json(error.to_string()),
            Ok(_) => progress.wrong.into_inner(),
        }),
    }
}

/// The state that all readers of one content share.
struct Progress {
    /// The error of the content if the value that is read now has the wrong form.
    wrong: RefCell<Malformed>,
    context: RefCell<Option<Vec<u8>>>,
    draft: RefCell<Draft>,
}

/// Reads one operation of a kind.
#[derive(Clone, Copy)]
struct Reader<'p> {
    progress: &'p Progress,
    kind: Kind,
    /// The operation is the whole content, and may have a context beside it.
    is_whole: bool,
}

/// The names of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Add,
    AddAll,
    Assign,
    Context,
    Decrement,
    Increment,
    Remove,
    RemoveAll,
    Update,
    Other,
}

impl Member {
    fn named(name: &str) -> Self {
        match name {
            "add" => Self::Add,
            "add_all" => Self::AddAll,
            "assign" => Self::Assign,
            "context" => Self::Context,
            "decrement" => Self::Decrement,
            "increment" => Self::Increment,
            "remove" => Self::Remove,
            "remove_all" => Self::RemoveAll,
            "update" => Self::Update,
            _ => Self::Other,
        }
    }

    fn next<'de, A: MapAccess<'de>>(members: &mut A) -> Result<Option<Self>, A::Error> {
        members.next_key_seed(Text(Self::named))
    }
}

impl<'p> Reader<'p> {
    fn expect(&self) {
        *self.progress.wrong.borrow_mut() = Malformed::Operation(self.kind);
    }

    fn fail<E: Error>(&self, malformed: Malformed) -> E {
        *self.progress.wrong.borrow_mut() = malformed;
        wrong()
    }

    fn write<T>(&self, write: impl FnOnce(&mut Draft) -> T) -> T {
        write(&mut self.progress.draft.borrow_mut())
    }

    /// Reads the value of a member beside the operation.
    fn read_other<'de, A: MapAccess<'de>>(&self, member: Member, members: &mut A) -> Result<(), A::Error> {
        if member != Member::Context || !self.is_whole {
            return Err(wrong());
        }
        *self.progress.wrong.borrow_mut() = Malformed::Context(ContextError::Text);
        let mut bytes = Vec::new();
        let read = members
            .next_value_seed(Text(|text: &str| Context::from_text(text.as_bytes(), &mut bytes).map(drop)))?;
        read.map_err(|error| self.fail(Malformed::Context(error)))?;
        *self.progress.context.borrow_mut() = Some(bytes);
        self.expect();
        Ok(())
    }

    fn counter<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<(), A::Error> {
        let mut number = None;
        while let Some(member) = Member::next(&mut members)? {
            let is_decrement = member == Member::Decrement;
            if number.is_some() || !(is_decrement || member == Member::Increment) {
                self.read_other(member, &mut members)?;
                continue;
            }
            let Number(read) = members.next_value_seed(NumberSeed)?;
            let read = if is_decrement { read.and_then(i64::checked_neg) } else { read };
            number = Some(read.ok_or_else(|| self.fail(Malformed::Number))?);
        }
        let number = number.ok_or_else(wrong)?;
        self.write(|draft| draft.add(number));
        Ok(())
    }

    fn register<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<(), A::Error> {
        let mut is_assigned = false;
        while let Some(member) = Member::next(&mut members)? {
            if member != Member::Assign || is_assigned {
                self.read_other(member, &mut members)?;
                continue;
            }
            members.next_value_seed(Text(|text: &str| self.assign(text)))?;
            is_assigned = true;
        }
        if is_assigned { Ok(()) } else { Err(wrong()) }
    }

    fn assign(&self, text: &str) {
        self.write(|draft| draft.assign(text.as_bytes()));
    }

    fn set<'de, A: MapAccess<'de>>(&self, members: A) -> Result<(), A::Error> {
        let mut elements = self.write(|draft| draft.begin_elements());
        self.elements(members, &mut elements)?;
        self.write(|draft| draft.end_elements(&elements));
        Ok(())
    }

    /// Reads members that name elements; `update` has such members again, once or in an array.
    fn elements<'de, A: MapAccess<'de>>(
        &self,
        mut members: A,
        into: &mut ElementsDraft,
    ) -> Result<(), A::Error> {
        let (is_set, mut is_empty) = (self.kind == Kind::Set, true);
        while let Some(member) = Member::next(&mut members)? {
            let add = |text: &str| self.write(|draft| draft.add_element(into, text.as_bytes()));
            let remove = |text: &str| self.write(|draft| draft.remove_element(text.as_bytes()));
            match member {
                Member::Add => members.next_value_seed(Text(add))?,
                Member::AddAll => members.next_value_seed(Texts(add))?,
                Member::Remove if is_set => members.next_value_seed(Text(remove))?,
                Member::RemoveAll if is_set => members.next_value_seed(Texts(remove))?,
                Member::Update if is_set => {
                    let reader = Reader { is_whole: false, ..*self };
                    members.next_value_seed(Again { reader, into: &mut *into, takes_many: true })?;
                }
                member => {
                    self.read_other(member, &mut members)?;
                    continue;
                }
            }
            is_empty = false;
        }
        if is_empty { Err(wrong()) } else { Ok(()) }
    }

    fn map<'de, A: MapAccess<'de>>(&self, mut members: A) -> Result<(), A::Error> {
        let (mut fields, mut is_empty) = (self.write(|draft| draft.begin_fields()), true);
        while let Some(member) = Member::next(&mut members)? {
            match member {
                Member::Update => {
                    self.write(|draft| draft.forget_changed(&mut fields));
                    members.next_value_seed(Updates(*self, &mut fields))?;
                }
                Member::Remove => {
                    self.write(|draft| draft.forget_removed(&fields));
                    members.next_value_seed(Names(*self))?;
                }
                member => {
                    self.read_other(member, &mut members)?;
                    continue;
                }
            }
            is_empty = false;
        }
        if is_empty {
            return Err(wrong());
        }
        self.write(|draft| draft.end_fields(&fields));
        Ok(())
    }

    /// Removes the field of a name.
    fn remove_field(&self, name: &str) -> Result<(), Malformed> {
        let (name, kind) = field_name(name)?;
        self.write(|draft| draft.remove_field(name.as_bytes(), kind));
        Ok(())
    }

    /// Begins the operation on the field of a name, and returns its reader.
    fn begin_field(&self, fields: &mut FieldsDraft, name: &str) -> Result<Self, Malformed> {
        let (name, kind) = field_name(name)?;
        self.write(|draft| draft.begin_field(fields, name.as_bytes(), kind));
        Ok(Reader { kind, is_whole: false, ..*self })
    }
}

/// Returns the error for a value of the wrong form.
fn wrong<E: Error>() -> E {
    E::custom("another form")
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.expect();
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operation on a {}", self.kind.name())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        if self.kind != Kind::Counter {
            return Err(wrong());
        }
        self.write(|draft| draft.add(number));
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => self.visit_f64(0.0),
        }
    }

    /// Refuses a number with a fraction, or beyond 64 bits.
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Err(if self.kind == Kind::Counter { self.fail(Malformed::Number) } else { wrong() })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match (self.kind, text) {
            (Kind::Counter, "increment") => self.write(|draft| draft.add(1)),
            (Kind::Counter, "decrement") => self.write(|draft| draft.add(-1)),
            (Kind::Flag, "enable") => self.write(|draft| draft.turn(true)),
            (Kind::Flag, "disable") => self.write(|draft| draft.turn(false)),
            (Kind::Register, text) => self.assign(text),
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        match self.kind {
            Kind::Counter => self.counter(members),
            Kind::Register => self.register(members),
            Kind::Map => self.map(members),
            Kind::Set | Kind::GrowSet | Kind::Distinct => self.set(members),
            Kind::Flag => Err(wrong()),
        }
    }
}

/// Reads members that name elements, in an array or alone.
struct Again<'p, 'e> {
    reader: Reader<'p>,
    into: &'e mut ElementsDraft,
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

/// Reads the operations on the fields of a map.
struct Updates<'p, 'f>(Reader<'p>, &'f mut FieldsDraft);

impl<'de> DeserializeSeed<'de> for Updates<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Updates<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operations by the names of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self(reader, into) = self;
        while let Some(begun) =
            fields.next_key_seed(Text(|name: &str| reader.begin_field(&mut *into, name)))?
        {
            let field = begun.map_err(|malformed| reader.fail(malformed))?;
            fields.next_value_seed(field)?;
            reader.expect();
        }
        Ok(())
    }
}

/// Reads the name of a field to remove, or an array of them.
struct Names<'p>(Reader<'p>);

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of fields")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.remove_field(name).map_err(|malformed| self.0.fail(malformed))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while let Some(removed) = values.next_element_seed(Text(|name: &str| self.0.remove_field(name)))? {
            removed.map_err(|malformed| self.0.fail(malformed))?;
        }
        Ok(())
    }
}
