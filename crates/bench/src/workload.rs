//! What a workload is, and the list of all.

use crate::{client, created, decode, encode, fields, part_g, server, tls};

/// Something that is done N times, to learn what once costs.
pub(crate) struct Workload {
    /// How it is called on the command line and in the files of figures.
    pub(crate) name: &'static str,
    /// What one unit is, for the table.
    pub(crate) what: &'static str,
    /// How many units give a figure that repeats.
    pub(crate) units: u64,
    /// What is done with its figures.
    pub(crate) counted: Counted,
    /// The function whose instructions count, with all it calls; empty is the whole program.
    pub(crate) within: &'static str,
    /// Sets it up.
    pub(crate) prepare: fn() -> Run,
}

/// A workload that is set up: does so many units.
pub(crate) type Run = Box<dyn FnMut(u64)>;

/// What is done with the figures of a workload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Counted {
    pub(crate) instructions: Use,
    pub(crate) allocations: Use,
}

/// What is done with a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Use {
    /// It is held to what is recorded.
    Held,
    /// It is told: it depends on how the system cuts a stream of octets, or on one `memcpy` or another.
    Told,
    /// It means nothing: most of the instructions of TLS are a cipher's.
    Nothing,
}

impl Use {
    /// In the list.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Told => "told",
            Self::Nothing => "-",
        }
    }
}

impl Workload {
    pub(crate) const fn new(
        name: &'static str,
        units: u64,
        what: &'static str,
        prepare: fn() -> Run,
    ) -> Self {
        let counted = Counted { instructions: Use::Held, allocations: Use::Held };
        Self { name, what, units, counted, within: "", prepare }
    }

    /// The same, but only the instructions of this function count. It must not be inlined.
    pub(crate) const fn within(self, function: &'static str) -> Self {
        Self { within: function, ..self }
    }

    /// The same, with other use made of what is counted.
    pub(crate) const fn counted(self, instructions: Use, allocations: Use) -> Self {
        Self { counted: Counted { instructions, allocations }, ..self }
    }
}

/// Every workload, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Workload> {
    let groups: [&[Workload]; 8] = [
        encode::WORKLOADS,
        decode::WORKLOADS,
        fields::WORKLOADS,
        created::WORKLOADS,
        client::WORKLOADS,
        server::WORKLOADS,
        tls::WORKLOADS,
        part_g::WORKLOADS,
    ];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names = Vec::new();
        for workload in all() {
            assert!(!names.contains(&workload.name), "{} is there twice", workload.name);
            names.push(workload.name);
        }
    }
}
