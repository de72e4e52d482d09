//! The redirect to the same path with its trailing slash added or removed.

use super::cut::Cut;
use super::segments::Segments;

/// The change of the trailing slash that makes a path match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SlashChange {
    Added,
    Removed,
}

impl SlashChange {
    /// Returns the field value of `location`: the path with its slash changed, and the query if there is one.
    ///
    /// It leads to this very server, whatever the peer has sent: a path that begins with two slashes, or a
    /// slash and a backslash, would be read as an authority (RFC 3986 §4.2), and gets `/.` in front, which a
    /// client takes away. Allocates.
    pub(crate) fn location(self, path: &[u8], query: Option<&[u8]>, options: Segments) -> Vec<u8> {
        let mut location = Vec::with_capacity(path.len() + query.map_or(0, <[u8]>::len) + 4);
        if matches!(path, [b'/', b'/' | b'\\', ..]) {
            location.extend_from_slice(b"/.");
        }
        match self {
            Self::Added => {
                location.extend_from_slice(path);
                location.push(b'/');
            }
            Self::Removed => location.extend_from_slice(without_slash(path, Cut::of(options))),
        }
        if let Some(query) = query {
            location.push(b'?');
            location.extend_from_slice(query);
        }
        location
    }
}

/// Returns the path without its trailing slash; without all of them if empty segments are dropped.
fn without_slash(mut path: &[u8], cut: Cut) -> &[u8] {
    loop {
        let encoded = path.len().saturating_sub(3);
        path = match path {
            [before @ .., b'/'] => before,
            _ if cut.separator(&path[encoded..]) == 3 => &path[..encoded],
            _ => return path,
        };
        if !cut.drops_empty() {
            return path;
        }
    }
}
