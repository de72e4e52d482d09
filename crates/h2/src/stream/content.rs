//! The check of `content-length` against DATA (RFC 9113 §8.1.1), for one direction of one stream.

/// The bytes that are still to come of a content with a stated length; any number without one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Content(u64);

/// The error of DATA that does not agree with `content-length`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ContentMismatch;

impl Content {
    pub(crate) const UNSTATED: Self = Self(u64::MAX);
    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(crate) const fn stated(bytes: Option<u64>) -> Self {
        match bytes {
            Some(bytes) => Self(bytes),
            None => Self::UNSTATED,
        }
    }

    /// Returns the bytes that are still to come, if a length was stated.
    pub(crate) const fn left(self) -> Option<u64> {
        if self.0 == u64::MAX { None } else { Some(self.0) }
    }

    /// Checks that more DATA, which may be the last, agrees.
    #[inline]
    pub(crate) const fn check(self, bytes: u64, end: bool) -> Result<Self, ContentMismatch> {
        if self.0 == u64::MAX {
            return Ok(self);
        }
        if bytes > self.0 || (end && bytes != self.0) {
            return Err(ContentMismatch);
        }
        Ok(Self(self.0 - bytes))
    }
}

/// Parses a `content-length`: digits only, at most 19 of them, so that every value fits (RFC 9110 §8.6).
#[inline]
pub(crate) fn parse(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 19 {
        return None;
    }
    value.iter().try_fold(0u64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_digits() {
        assert_eq!(parse(b"0"), Some(0));
        assert_eq!(parse(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        for odd in ["", "+1", "-1", "1, 1", " 1", "0x1", "10000000000000000000"] {
            assert_eq!(parse(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn data_adds_up_or_not() {
        let content = Content::stated(Some(3));
        assert_eq!(content.check(4, false), Err(ContentMismatch));
        assert_eq!(content.check(2, true), Err(ContentMismatch));
        assert_eq!(content.check(3, false).and_then(|rest| rest.check(0, true)), Ok(Content::NONE));
        assert_eq!(Content::UNSTATED.check(u64::MAX, true), Ok(Content::UNSTATED));
        assert_eq!((content.left(), Content::UNSTATED.left()), (Some(3), None));
        assert_eq!(Content::NONE.check(1, false), Err(ContentMismatch));
    }
}
