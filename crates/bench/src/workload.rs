//! Something that is done N times, to learn what once costs.

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
    /// The load and the work that it shares with the peers beside it in the table; empty if it has none. A
    /// figure of a peer names the load that it was counted under, and only an equal one may stand beside it.
    pub(crate) load: &'static str,
    /// The bytes counted are those of the resident set, instead of those allocated.
    pub(crate) is_resident: bool,
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
    /// It is told: it depends on how the system cuts a stream of bytes, or on one `memcpy` or another.
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
        Self { name, what, units, counted, within: "", load: "", is_resident: false, prepare }
    }

    /// The same, but only the instructions of this function count. It must not be inlined.
    pub(crate) const fn within(self, function: &'static str) -> Self {
        Self { within: function, ..self }
    }

    /// The same, beside peers under this load.
    pub(crate) const fn beside(self, load: &'static str) -> Self {
        Self { load, ..self }
    }

    /// The same, but what is counted is the growth of the resident set.
    pub(crate) const fn resident(self) -> Self {
        Self { is_resident: true, ..self }
    }

    /// The same, with other use made of what is counted.
    pub(crate) const fn counted(self, instructions: Use, allocations: Use) -> Self {
        Self { counted: Counted { instructions, allocations }, ..self }
    }
}
