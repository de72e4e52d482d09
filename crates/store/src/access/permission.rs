//! Permissions by name, and sets of them.

use std::fmt;

/// The kinds of requests that a user may be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// Reads of objects, counters, data types and properties.
    Get,
    /// Writes of objects, counters and data types.
    Put,
    /// Deletions of objects.
    Delete,
    /// Lists of keys and of buckets.
    List,
    /// Queries of indexes.
    Index,
    /// Changes of properties.
    Admin,
}

impl Permission {
    /// The permissions, all of them.
    pub const ALL: [Self; 6] = [Self::Get, Self::Put, Self::Delete, Self::List, Self::Index, Self::Admin];

    /// Returns the name in a users file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Index => "index",
            Self::Admin => "admin",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.name() == name)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permissions(u8);

impl Permissions {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn of(permission: Permission) -> Self {
        Self(1 << permission as u8)
    }

    pub(crate) const fn and(self, permission: Permission) -> Self {
        Self(self.0 | Self::of(permission).0)
    }

    pub(crate) const fn contains(self, permission: Permission) -> bool {
        self.0 & Self::of(permission).0 != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |permission| self.contains(*permission))
    }
}
