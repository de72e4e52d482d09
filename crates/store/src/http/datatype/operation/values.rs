//! Reads the strings and the numbers of operations without copying them.

use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

/// Reads a string, and returns the result of a function of it.
pub(super) struct Text<F>(pub(super) F);

impl<'de, T, F: FnOnce(&str) -> T> DeserializeSeed<'de> for Text<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(self.0(text))
    }
}

/// Reads an array of strings, each as it comes.
pub(super) struct Texts<F>(pub(super) F);

impl<'de, F: FnMut(&str)> DeserializeSeed<'de> for Texts<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&str)> Visitor<'de> for Texts<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(Text(&mut self.0))?.is_some() {}
        Ok(())
    }
}

/// A whole number of 64 bits with a sign, or none for any other number.
pub(super) struct Number(pub(super) Option<i64>);

pub(super) struct NumberSeed;

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
