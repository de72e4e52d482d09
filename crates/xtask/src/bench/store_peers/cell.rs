//! The servers, the loads, and the ways in which each server is loaded.

/// A server, in the order of the tables.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Who {
    Alula,
    Axum,
    Pebble,
    Bolt,
    Nginx,
}

impl Who {
    pub(super) const ALL: [Self; 5] = [Self::Alula, Self::Axum, Self::Pebble, Self::Bolt, Self::Nginx];

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Alula => "alula store",
            Self::Axum => "axum, fjall",
            Self::Pebble => "Go, Pebble",
            Self::Bolt => "Go, bbolt",
            Self::Nginx => "nginx, files",
        }
    }

    /// The word by which `--only` and folders name it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Alula => "alula",
            Self::Axum => "axum",
            Self::Pebble => "pebble",
            Self::Bolt => "bbolt",
            Self::Nginx => "nginx",
        }
    }

    pub(super) fn is_named(self, only: &str) -> bool {
        self.word() == only
    }

    pub(super) fn takes_writes(self) -> bool {
        self != Self::Nginx
    }

    pub(super) fn has(self, load: Load) -> bool {
        load == Load::Get || self.takes_writes()
    }
}

/// The requests of a load.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Load {
    /// Objects that are there, in no order.
    Get,
    /// New objects.
    Put,
    /// The workload: of five requests two read, two write new objects, and one writes back what was read before, with its context.
    All,
}

impl Load {
    pub(super) const ALL: [Self; 3] = [Self::Get, Self::Put, Self::All];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Get => "GET of objects in no order",
            Self::Put => "PUT of new objects",
            Self::All => "reads, new objects and updates with contexts",
        }
    }
}

/// A load on so many connections.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Cell {
    pub(super) load: Load,
    pub(super) connections: u64,
}

impl Cell {
    pub(super) fn label(self) -> String {
        format!("{}, {} connections", self.load.title(), self.connections)
    }
}

pub(super) const CONNECTIONS: [u64; 2] = [12, 64];

pub(super) fn cells() -> impl Iterator<Item = Cell> {
    let loads = Load::ALL.into_iter();
    loads.flat_map(|load| CONNECTIONS.map(|connections| Cell { load, connections }))
}
