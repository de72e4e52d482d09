//! A limit that a peer has exceeded: its name, the amount seen, and its value.

use core::fmt;

/// A limit of [`Limits`](crate::Limits) that a peer has exceeded, with the amount seen and the value of the
/// limit.
///
/// `Copy` and free of allocation: it is built on hostile paths.
///
/// ```
/// use alula::Exceeded;
///
/// let head = Exceeded::HEAD_BYTES.of(70_112, 65_536);
/// assert_eq!(head.to_string(), "the head has 70112 bytes or more; Limits::head_bytes is 65536");
/// assert_eq!((head.limit(), head.seen, head.bound), ("head_bytes", 70_112, 65_536));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exceeded {
    measure: &'static Measure,
    /// The amount seen, which may be less than the peer meant to send.
    pub seen: u64,
    /// The value of the limit.
    pub bound: u64,
}

impl Exceeded {
    /// Returns the name of the field of [`Limits`](crate::Limits).
    pub const fn limit(&self) -> &'static str {
        self.measure.limit
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measure { limit, before, after } = self.measure;
        write!(f, "{before} {} {after}; Limits::{limit} is {}", self.seen, self.bound)
    }
}

/// The quantity that a limit bounds, in words.
#[derive(Debug, Eq, PartialEq)]
pub struct Measure {
    limit: &'static str,
    before: &'static str,
    after: &'static str,
}

impl Measure {
    /// Creates the failure of a limit, with the amount seen and the value of the limit.
    pub const fn of(&'static self, seen: u64, bound: u64) -> Exceeded {
        Exceeded { measure: self, seen, bound }
    }
}

macro_rules! measures {
    ($($name:ident $limit:literal: $before:literal $after:literal;)*) => {
        /// The measures, one constant per limit.
        impl Exceeded {
            $(
                #[doc = concat!("Of `Limits::", $limit, "`.")]
                pub const $name: &'static Measure = &Measure { limit: $limit, before: $before, after: $after };
            )*
        }
    };
}

measures! {
    HEAD_BYTES "head_bytes": "the head has" "bytes or more";
    FIRST_HEAD_BYTES "first_head_bytes": "memory is scarce, and the first head of the connection has" "bytes or more";
    TARGET_BYTES "target_bytes": "the target has" "bytes or more";
    FIELD_SECTION_BYTES "field_section_bytes": "the field section has" "bytes or more, with 32 for each field";
    FIELD_SECTION_EXPANSION "field_section_expansion": "a byte of the field section on the wire stands for" "bytes of fields or more";
    FIELDS "fields": "the head has" "fields or more";
    COOKIE_CRUMBS "cookie_crumbs": "the head has" "lines of cookies or more";
    STRING_BYTES "string_bytes": "a name or a value of a field has" "bytes or more";
    CONTINUATION_FRAMES "continuation_frames": "the head has" "CONTINUATION frames or more";
    CHUNK_EXTENSION_BYTES "chunk_extension_bytes": "the extensions of chunks have" "bytes or more";
    INTERIM_RESPONSES "interim_responses": "there were" "interim responses";
    INTERIM_HEAD_BYTES "head_bytes": "the interim responses have" "bytes";
    INTERIM_SECTION_BYTES "field_section_bytes": "the interim responses have" "bytes, with 32 for each field";
    SETTINGS_ENTRIES "settings_entries": "a SETTINGS frame has" "entries";
    QUEUED_ACKS "queued_acks": "the peer asked for" "acknowledgments that it has not read";
    GLITCHES "glitch_burst": "the peer sent" "frames that were useless or broken";
    RESETS "reset_burst": "the peer reset" "requests that were not answered";
}
