//! Values of ASN.1 in DER (X.690), as in files with keys and certificates.

pub(in crate::fetch) const INTEGER: u8 = 0x02;
pub(in crate::fetch) const OCTET_STRING: u8 = 0x04;
pub(in crate::fetch) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(in crate::fetch) const SEQUENCE: u8 = 0x30;
/// The tag `[0]`: explicit, around a value, or implicit, in its place.
pub(in crate::fetch) const EXPLICIT_0: u8 = 0xa0;
pub(in crate::fetch) const IMPLICIT_0: u8 = 0x80;

/// Values of DER that follow each other.
#[derive(Clone, Copy, Debug)]
pub(in crate::fetch) struct Der<'a>(pub(in crate::fetch) &'a [u8]);

impl<'a> Der<'a> {
    /// Takes the content of the next value if it has this tag; otherwise takes nothing.
    pub(in crate::fetch) fn take(&mut self, tag: u8) -> Option<Self> {
        let (found, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first().filter(|_| *found == tag)?;
        let (length, rest) = match usize::from(*first) {
            short @ 0..=0x7f => (short, rest),
            long => {
                let (digits, rest) = rest.split_at_checked(long & 0x7f)?;
                let length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
                (Some(length).filter(|_| (1..=3).contains(&digits.len()))?, rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Self(content))
    }

    /// Takes the content of the next value if its tag is one of these.
    pub(in crate::fetch) fn take_any(&mut self, tags: [u8; 2]) -> Option<Self> {
        self.take(tags[0]).or_else(|| self.take(tags[1]))
    }

    /// Parses a number that is not negative.
    pub(in crate::fetch) fn number(&mut self) -> Option<u32> {
        let bytes = self.take(INTEGER)?.0;
        let is_plausible = (1..=4).contains(&bytes.len()) && bytes[0] < 0x80;
        is_plausible.then(|| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_within_their_lengths() {
        let mut all = Der(&[SEQUENCE, 3, INTEGER, 1, 7, OCTET_STRING, 0x81, 1, 9]);
        let mut sequence = all.take(SEQUENCE).unwrap();
        assert_eq!((sequence.number(), sequence.number()), (Some(7), None));
        assert!(all.take(INTEGER).is_none());
        assert_eq!(all.take_any([INTEGER, OCTET_STRING]).unwrap().0, [9]);
        for wrong in [
            &[SEQUENCE, 2, 0][..],
            &[SEQUENCE, 0x80, 0],
            &[SEQUENCE, 0x85, 0, 0, 0, 0, 1, 0],
            &[SEQUENCE],
            &[],
        ] {
            assert!(Der(wrong).take(SEQUENCE).is_none(), "{wrong:?}");
        }
        assert_eq!(Der(&[INTEGER, 1, 0x80]).number(), None);
    }
}
