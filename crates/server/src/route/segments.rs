//! The options of a router: the separators of segments, and the bytes that are data.

/// The rules by which a router reads paths: what separates segments, and which bytes are data.
///
/// A router for files and one for object keys want opposite rules: `a//b`, `%2F` and `..` are part of a key,
/// and dangerous in the name of a file. Start from [`STRICT`](Self::STRICT), the default,
/// [`FILES`](Self::FILES) or
/// [`OBJECT_KEYS`](Self::OBJECT_KEYS), and change single rules. It is 5 bytes, copied and never allocated.
///
/// A path that a rule refuses is answered 400; one that fits no pattern 404. The grammar is that of RFC 3986
/// §3.3.
///
/// ```
/// # #[cfg(feature = "server")] {
/// use alula::{EmptySegments, PlusSign, Segments, TrailingSlash};
///
/// // Riak's rules: slashes too many do no harm, and `+` in a key is a space.
/// let riak = Segments::OBJECT_KEYS
///     .empty_segments(EmptySegments::Drop)
///     .trailing_slash(TrailingSlash::Ignore)
///     .plus_sign(PlusSign::Space);
/// assert_ne!(riak, Segments::default());
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segments {
    pub(super) empty: EmptySegments,
    pub(super) trailing_slash: TrailingSlash,
    pub(super) encoded_slash: EncodedSlash,
    pub(super) plus: PlusSign,
    pub(super) dots: DotSegments,
}

/// The rule for empty segments, as between the slashes of `/a//b`. The slash at the end of a path is no empty
/// segment:
/// [`TrailingSlash`] is its rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EmptySegments {
    /// Empty segments are kept: literals may be empty, `{*rest}` contains them, `{name}` does not match them.
    Keep,
    /// Empty segments are skipped when segments are matched: `/a//b` is `/a/b`. Within `{*rest}` they stay.
    Drop,
    /// A path with one is answered 400. The default: two programs in a row that disagree about `//` can be
    /// played off against each other.
    Refuse,
}

/// The rule for a slash at the end of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TrailingSlash {
    /// `/a` and `/a/` are two paths. The default: relative links in an answer depend on that slash.
    Strict,
    /// A pattern matches with the slash and without.
    Ignore,
    /// A path that matches only with its slash added or removed is redirected there.
    Redirect,
}

/// The rule for a slash that is percent-encoded, `%2F`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EncodedSlash {
    /// A `%2F` is part of its segment, and becomes a slash when the capture is decoded. The default: names
    /// with slashes are sent so.
    Keep,
    /// A `%2F` separates segments as `/` does.
    Separate,
    /// A path with one is answered 400.
    Refuse,
}

/// The rule for `+` when captures are decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PlusSign {
    /// A `+` is a plus sign. The default: only forms write a space so (RFC 3986 §2.2 has no such rule).
    Literal,
    /// A `+` is a space. A plus sign is sent as `%2B`.
    Space,
}

/// The rule for segments that are `.` or `..`, including dots as `%2e`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DotSegments {
    /// A path with one is answered 400, even between `%2F`. The default: clients resolve them before they ask
    /// (RFC 3986 §5.2.4), so that one that arrives is an attempt to leave a folder.
    Refuse,
    /// Dot segments are data like any other segment.
    Literal,
}

impl Segments {
    /// The strictest options: empty segments and dot segments are refused, and a slash at the end counts;
    /// `%2F` and `+` are data. The default.
    pub const STRICT: Self = Self {
        empty: EmptySegments::Refuse,
        trailing_slash: TrailingSlash::Strict,
        encoded_slash: EncodedSlash::Keep,
        plus: PlusSign::Literal,
        dots: DotSegments::Refuse,
    };

    /// The options for file names: empty segments are dropped, as in file systems; dot segments and `%2F` are
    /// refused.
    pub const FILES: Self =
        Self { empty: EmptySegments::Drop, encoded_slash: EncodedSlash::Refuse, ..Self::STRICT };

    /// The options for keys of objects, in which `a//b`, `%2F`, `.` and `..` are data.
    pub const OBJECT_KEYS: Self =
        Self { empty: EmptySegments::Keep, dots: DotSegments::Literal, ..Self::STRICT };

    /// Returns true if empty segments are skipped.
    #[cfg(feature = "files")]
    pub(crate) fn skips_empty(self) -> bool {
        self.empty == EmptySegments::Drop
    }

    /// Sets the rule for empty segments.
    #[must_use]
    pub const fn empty_segments(self, empty: EmptySegments) -> Self {
        Self { empty, ..self }
    }

    /// Sets the rule for a slash at the end.
    #[must_use]
    pub const fn trailing_slash(self, trailing_slash: TrailingSlash) -> Self {
        Self { trailing_slash, ..self }
    }

    /// Sets the rule for `%2F`.
    #[must_use]
    pub const fn encoded_slash(self, encoded_slash: EncodedSlash) -> Self {
        Self { encoded_slash, ..self }
    }

    /// Sets the rule for `+`.
    #[must_use]
    pub const fn plus_sign(self, plus: PlusSign) -> Self {
        Self { plus, ..self }
    }

    /// Sets the rule for `.` and `..`.
    #[must_use]
    pub const fn dot_segments(self, dots: DotSegments) -> Self {
        Self { dots, ..self }
    }
}

/// Returns [`Segments::STRICT`].
impl Default for Segments {
    fn default() -> Self {
        Self::STRICT
    }
}
