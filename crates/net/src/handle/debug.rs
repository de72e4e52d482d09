//! `Debug` of types that hold content, which they do not show.

use std::fmt;

use crate::handle::{body::Body, writer::BodyWriter};

macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque! { Body BodyWriter }

#[cfg(feature = "stream")]
use crate::handle::body::BodyStream;
#[cfg(feature = "stream")]
opaque! { BodyStream }
