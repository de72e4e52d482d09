//! Vtags: the entity-tag of an object with one content, and the name of one sibling among several.

/// The letters of a vtag, in the order of what they stand for.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The letters that 128 bits take.
const LENGTH: usize = 22;

/// Letters whose values fit into 64 bits, which a processor divides by itself.
const GROUP: usize = 10;
const GROUP_VALUES: u128 = 62_u128.pow(GROUP as u32);

/// A token of 128 bits. That of a content is random; that of siblings is made of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vtag(u128);

/// The 22 letters and digits of a [`Vtag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VtagText([u8; LENGTH]);

impl Vtag {
    /// Returns the vtag of these bits.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits of the vtag.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Returns the vtag of an object with these siblings: it differs for other siblings, and is the same for
    /// each read. Their order counts.
    pub fn of_siblings(siblings: impl IntoIterator<Item = Vtag>) -> Self {
        // The vtags are random and made here, so that mixing them is enough; an odd factor keeps each bit.
        const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        let mix = |bits: u128, vtag: Vtag| (bits.rotate_left(29) ^ vtag.0).wrapping_mul(FACTOR);
        Self(siblings.into_iter().fold(FACTOR, mix))
    }

    /// Returns the letters and digits of the vtag. Allocates nothing.
    ///
    /// ```
    /// use alula_store::model::Vtag;
    ///
    /// let text = Vtag::from_bits(61).text();
    /// assert_eq!(text.as_bytes(), b"000000000000000000000z");
    /// assert_eq!(Vtag::parse(text.as_bytes()), Some(Vtag::from_bits(61)));
    /// ```
    pub fn text(self) -> VtagText {
        let mut text = [b'0'; LENGTH];
        let mut bits = self.0;
        for group in text.rchunks_mut(GROUP) {
            let mut rest = (bits % GROUP_VALUES) as u64;
            bits /= GROUP_VALUES;
            for letter in group.iter_mut().rev() {
                *letter = LETTERS[(rest % 62) as usize];
                rest /= 62;
            }
        }
        VtagText(text)
    }

    /// Parses the letters of a vtag; `None` if they are none. Any text has an answer.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let letters: &[u8; LENGTH] = text.try_into().ok()?;
        let place = |letter: &u8| LETTERS.iter().position(|known| known == letter);
        let add = |bits: u128, letter: &u8| bits.checked_mul(62)?.checked_add(place(letter)? as u128);
        letters.iter().try_fold(0, add).map(Self)
    }
}

impl VtagText {
    /// Returns the letters and digits.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back() {
        let groups = [GROUP_VALUES - 1, GROUP_VALUES, GROUP_VALUES * GROUP_VALUES];
        for bits in [0, 1, 61, 62, u128::from(u64::MAX), u128::MAX - 1, u128::MAX].into_iter().chain(groups) {
            assert_eq!(Vtag::parse(Vtag(bits).text().as_bytes()), Some(Vtag(bits)), "{bits:x}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "0", "00000000000000000000000", "zzzzzzzzzzzzzzzzzzzzzz", "-000000000000000000000"] {
            assert_eq!(Vtag::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn siblings_differ_by_their_members_and_order() {
        let tags = [[1, 2].as_slice(), &[2, 1], &[1], &[1, 2, 0], &[]].map(|bits| {
            let tag = Vtag::of_siblings(bits.iter().copied().map(Vtag::from_bits));
            assert_eq!(tag, Vtag::of_siblings(bits.iter().copied().map(Vtag::from_bits)));
            tag.bits()
        });
        let different: std::collections::BTreeSet<_> = tags.into_iter().collect();
        assert_eq!(different.len(), tags.len());
    }
}
