//! Content codings of files that were compressed beforehand, and the choice among them by `accept-encoding`
//! (RFC 9110 §12.5.3).

use std::path::{Path, PathBuf};

use alula_fields::{FieldSection, KnownName, parameters};

/// A coding that a file beside another may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

impl Coding {
    /// All codings; of those that a peer takes equally, the first is sent.
    pub(super) const ALL: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// Returns the name, as `content-encoding` has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the path of the file beside this one that has its content in this coding.
    pub(super) fn beside(self, path: &Path) -> PathBuf {
        let end = match self {
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        };
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    }

    /// Returns the weight that the fields of a request give this coding; 0 where it is not to be sent.
    pub(super) fn weight(self, headers: &FieldSection) -> u16 {
        weight_of(headers, self.name()).unwrap_or(0)
    }
}

/// Returns the weight of content as it is: what the fields say of it by name. It may be sent where nothing is
/// said, but whatever else is taken goes before it.
pub(super) fn identity_weight(headers: &FieldSection) -> u16 {
    weight_of(headers, "identity").filter(|_| names(headers, "identity")).unwrap_or(0)
}

/// Returns the weight of a coding by its own name, or else by `*`, in thousandths.
fn weight_of(headers: &FieldSection, coding: &str) -> Option<u16> {
    let mut of_all = None;
    for (name, weight) in elements(headers) {
        match name {
            name if name.eq_ignore_ascii_case(coding.as_bytes()) => return Some(weight),
            b"*" => of_all = Some(weight),
            _ => {}
        }
    }
    of_all
}

fn names(headers: &FieldSection, coding: &str) -> bool {
    elements(headers).any(|(name, _)| name.eq_ignore_ascii_case(coding.as_bytes()))
}

/// Returns the elements of the list with their weights; one that cannot be read is 0.
fn elements(headers: &FieldSection) -> impl Iterator<Item = (&[u8], u16)> {
    let elements = headers.get_all(KnownName::ACCEPT_ENCODING).flat_map(parameters::elements);
    elements.map(|element| (parameters::main(element), parameters::weight(element).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_weight_wins_and_then_the_smallest_file() {
        for (accept, expected) in [
            (&[][..], [0, 0, 0, 0]),
            (&["gzip, deflate, br, zstd"], [1000, 1000, 1000, 0]),
            (&["gzip;q=0.8", "BR ; q=0.25"], [250, 0, 800, 0]),
            (&["*"], [1000, 1000, 1000, 0]),
            (&["*;q=0.5, gzip;q=0, identity"], [500, 500, 0, 1000]),
            (&["br;q=0, zstd;q=1.000"], [0, 1000, 0, 0]),
            (&["gzip;q=x, br;q=0.1234"], [123, 0, 0, 0]),
            (&["", ",,gzip"], [0, 0, 1000, 0]),
        ] {
            let headers = FieldSection::from_pairs(accept.iter().map(|it| ("accept-encoding", *it))).unwrap();
            let [brotli, zstd, gzip] = Coding::ALL.map(|coding| coding.weight(&headers));
            assert_eq!([brotli, zstd, gzip, identity_weight(&headers)], expected, "{accept:?}");
        }
    }
}
