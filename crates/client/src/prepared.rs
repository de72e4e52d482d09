//! Requests that are checked and planned once, then sent often.

use std::sync::Arc;

use alula_fields::{FieldSection, Method};
use alula_net::Error;

use crate::origin::Origin;

/// A prepared request being made.
pub struct Prepare {
    origin: Arc<Origin>,
    request: Plan,
}

#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: FieldSection,
    pub(crate) holes: Vec<String>,
}

/// The values of one call.
#[derive(Clone, Copy, Default)]
pub(crate) struct Holes<'a> {
    pub(crate) path: Option<&'a str>,
    pub(crate) values: [Option<&'a [u8]>; HOLES_MAX],
}

/// Holes of one prepared request.
const HOLES_MAX: usize = 8;

/// A request that was checked, normalised and planned once. Sending it costs its changes only.
///
/// Clones share the plan; send it from as many tasks as you like.
#[derive(Clone)]
pub struct Prepared {
    pub(crate) origin: Arc<Origin>,
    pub(crate) request: Arc<Plan>,
}

/// A value of a prepared request that is given with each call; see [`Call::set`](crate::Call::set).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hole(pub(crate) u8);

impl Prepare {
    pub(crate) fn new(origin: Arc<Origin>, method: Method<'_>, path: &str) -> Self {
        let request = Plan {
            method: method.as_str().to_owned(),
            path: path.to_owned(),
            fields: FieldSection::new(),
            holes: Vec::new(),
        };
        Self { origin, request }
    }

    /// Adds a field that is the same in every call.
    ///
    /// # Errors
    /// The name or the value is not valid; nothing is added then.
    pub fn field(mut self, name: &str, value: &[u8]) -> Result<Self, Error> {
        self.request.fields.append(name, value)?;
        Ok(self)
    }

    /// Adds a field whose value is given with each call; a call that leaves it out does not send the field.
    ///
    /// # Errors
    /// The name is not valid, or there are too many holes.
    pub fn hole(&mut self, name: &str) -> Result<Hole, Error> {
        if self.request.holes.len() == HOLES_MAX {
            return Err(Error::usage("a prepared request has eight holes at the most"));
        }
        self.request.holes.push(name.to_owned());
        Ok(Hole(self.request.holes.len() as u8 - 1))
    }

    /// The request, ready to be sent.
    pub fn build(self) -> Prepared {
        Prepared { origin: self.origin, request: Arc::new(self.request) }
    }
}
