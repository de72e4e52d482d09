//! The types that callers can pass as pairs of queries and forms.

use std::{
    borrow::Borrow,
    fmt::{self, Display},
};

use super::urlencoded::Encoder;

/// Names and values of a query or a form: pairs of anything that displays.
///
/// They come from an array, a slice, a `Vec`, a map or any other iterator of pairs or of references to pairs;
/// pairs whose values differ in type stand in a tuple, of eight at the most: `(("q", "rust"), ("page", 2))`.
/// Sealed; `Kind` is inferred.
pub trait IntoPairs<Kind>: sealed::Pairs<Kind> {}

impl<Kind, T: sealed::Pairs<Kind>> IntoPairs<Kind> for T {}

pub(crate) mod sealed {
    use std::fmt;

    use crate::request::content::urlencoded::Encoder;

    pub trait Pairs<Kind> {
        fn encode(self, encoder: &mut Encoder<'_>) -> fmt::Result;
    }
}

/// The kind of pairs that are iterated over.
#[doc(hidden)]
pub struct Iterated<K, V>(K, V);

/// The kind of pairs in a tuple.
#[doc(hidden)]
pub struct Mixed;

impl<I, K, V> sealed::Pairs<Iterated<K, V>> for I
where
    I: IntoIterator<Item: Borrow<(K, V)>>,
    K: Display,
    V: Display,
{
    fn encode(self, encoder: &mut Encoder<'_>) -> fmt::Result {
        self.into_iter().try_for_each(|pair| {
            let (name, value) = pair.borrow();
            encoder.pair(name, value)
        })
    }
}

macro_rules! mixed {
    ($(($name:ident $value:ident $place:tt))+) => {
        impl<$($name: Display, $value: Display),+> sealed::Pairs<Mixed> for &($(($name, $value),)+) {
            fn encode(self, encoder: &mut Encoder<'_>) -> fmt::Result {
                $(encoder.pair(&self.$place.0, &self.$place.1)?;)+
                Ok(())
            }
        }

        impl<$($name: Display, $value: Display),+> sealed::Pairs<Mixed> for ($(($name, $value),)+) {
            fn encode(self, encoder: &mut Encoder<'_>) -> fmt::Result {
                (&self).encode(encoder)
            }
        }
    };
}

mixed!((A1 A2 0));
mixed!((A1 A2 0)(B1 B2 1));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2)(D1 D2 3));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2)(D1 D2 3)(E1 E2 4));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2)(D1 D2 3)(E1 E2 4)(F1 F2 5));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2)(D1 D2 3)(E1 E2 4)(F1 F2 5)(G1 G2 6));
mixed!((A1 A2 0)(B1 B2 1)(C1 C2 2)(D1 D2 3)(E1 E2 4)(F1 F2 5)(G1 G2 6)(H1 H2 7));
