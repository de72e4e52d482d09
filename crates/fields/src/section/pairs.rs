//! Field sections from pairs and maps of other kinds.

use alloc::collections::BTreeMap;

use crate::{error::FieldError, section::FieldSection};

impl FieldSection {
    /// Creates a section of these pairs, in their order; names in any case.
    ///
    /// # Errors
    /// As [`append`](Self::append), for the first pair that is refused.
    ///
    /// ```
    /// use alula::FieldSection;
    ///
    /// let section = FieldSection::from_pairs([("Accept", "*/*"), ("X-Tag", "a")])?;
    /// assert_eq!(section.len(), 2);
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    pub fn from_pairs<N: AsRef<str>, V: AsRef<[u8]>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, FieldError> {
        let mut section = Self::new();
        section.extend_pairs(pairs)?;
        Ok(section)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> TryFrom<&[(N, V)]> for FieldSection {
    type Error = FieldError;

    fn try_from(pairs: &[(N, V)]) -> Result<Self, FieldError> {
        Self::from_pairs(pairs.iter().map(|(name, value)| (name, value)))
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const COUNT: usize> TryFrom<[(N, V); COUNT]> for FieldSection {
    type Error = FieldError;

    fn try_from(pairs: [(N, V); COUNT]) -> Result<Self, FieldError> {
        Self::from_pairs(pairs)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> TryFrom<&BTreeMap<N, V>> for FieldSection {
    type Error = FieldError;

    /// The fields in the map's order.
    fn try_from(map: &BTreeMap<N, V>) -> Result<Self, FieldError> {
        Self::from_pairs(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_slices_and_maps_agree() {
        let pairs = [("accept", "*/*"), ("x-tag", "a")];
        let section = FieldSection::from_pairs(pairs).unwrap();
        assert_eq!(FieldSection::try_from(pairs).unwrap(), section);
        assert_eq!(FieldSection::try_from(&pairs[..]).unwrap(), section);
        assert_eq!(FieldSection::try_from(&BTreeMap::from(pairs)).unwrap(), section);
    }

    #[test]
    fn one_refused_pair_refuses_all() {
        let mut section = FieldSection::from_pairs([("a", "1")]).unwrap();
        section.extend_pairs([("b", "2"), ("c", "\n")]).unwrap_err();
        assert_eq!(section, FieldSection::from_pairs([("a", "1")]).unwrap());
        assert!(FieldSection::from_pairs([("a b", "")]).is_err());
    }
}
