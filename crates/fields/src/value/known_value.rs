//! Known field values: small numbers instead of text, per name.
//!
//! One table, grouped by name; finding a value compares with the few of its group. The values of HPACK's
//! static table are among them (RFC 7541 Appendix A).

use core::fmt;
use core::num::NonZeroU8;

use crate::name::known::KnownName;

/// A value that Alula knows under a certain name, such as `gzip` under `content-encoding`. One byte.
///
/// The same text under two names is two known values.
///
/// ```
/// use alula::{KnownName, fields::KnownValue};
///
/// let value = KnownValue::lookup(KnownName::CONTENT_TYPE, b"application/json").unwrap();
/// assert_eq!(value, KnownValue::CONTENT_TYPE_JSON);
/// assert_eq!((value.name(), value.as_str()), (KnownName::CONTENT_TYPE, "application/json"));
/// assert_eq!(KnownValue::lookup(KnownName::ACCEPT, b"text/x-odd"), None);
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct KnownValue(NonZeroU8);

/// Makes the constants and the columns from the groups; ids count from one.
macro_rules! known_values {
    ($($name:ident { $($constant:ident $text:literal;)* })*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Row { $($($constant,)*)* End }

        /// The known values.
        impl KnownValue {
            /// The number of known values; ids run from 1 to this.
            pub const COUNT: usize = Row::End as usize;
            $($(
                #[doc = concat!("`", $text, "`")]
                pub const $constant: KnownValue = KnownValue::row(Row::$constant as u8 + 1);
            )*)*
        }

        const ROWS: [(KnownName, &str); KnownValue::COUNT] = [$($((KnownName::$name, $text),)*)*];
    };
}

known_values! {
    PSEUDO_METHOD {
        METHOD_GET "GET"; METHOD_POST "POST"; METHOD_HEAD "HEAD"; METHOD_PUT "PUT"; METHOD_DELETE "DELETE";
        METHOD_OPTIONS "OPTIONS"; METHOD_CONNECT "CONNECT"; METHOD_PATCH "PATCH";
    }
    PSEUDO_PATH { PATH_ROOT "/"; PATH_INDEX "/index.html"; }
    PSEUDO_SCHEME { SCHEME_HTTP "http"; SCHEME_HTTPS "https"; }
    PSEUDO_STATUS {
        STATUS_200 "200"; STATUS_204 "204"; STATUS_206 "206"; STATUS_304 "304"; STATUS_400 "400"; STATUS_404 "404";
        STATUS_500 "500"; STATUS_100 "100"; STATUS_201 "201"; STATUS_301 "301"; STATUS_302 "302"; STATUS_503 "503";
    }
    PSEUDO_PROTOCOL { PROTOCOL_WEBSOCKET "websocket"; }
    ACCEPT { ACCEPT_ANY "*/*"; ACCEPT_JSON "application/json"; }
    ACCEPT_ENCODING {
        ACCEPT_ENCODING_GZIP_DEFLATE "gzip, deflate"; ACCEPT_ENCODING_BROWSER "gzip, deflate, br";
        ACCEPT_ENCODING_BROWSER_ZSTD "gzip, deflate, br, zstd"; ACCEPT_ENCODING_GZIP "gzip";
        ACCEPT_ENCODING_IDENTITY "identity";
    }
    ACCEPT_RANGES { ACCEPT_RANGES_BYTES "bytes"; ACCEPT_RANGES_NONE "none"; }
    ACCESS_CONTROL_ALLOW_CREDENTIALS { ALLOW_CREDENTIALS_TRUE "true"; }
    ACCESS_CONTROL_ALLOW_ORIGIN { ALLOW_ORIGIN_ANY "*"; }
    CACHE_CONTROL {
        CACHE_CONTROL_NO_CACHE "no-cache"; CACHE_CONTROL_NO_STORE "no-store"; CACHE_CONTROL_PRIVATE "private";
        CACHE_CONTROL_PUBLIC "public"; CACHE_CONTROL_MAX_AGE_0 "max-age=0";
    }
    CONNECTION { CONNECTION_CLOSE "close"; CONNECTION_KEEP_ALIVE "keep-alive"; CONNECTION_UPGRADE "upgrade"; }
    CONTENT_ENCODING {
        CONTENT_ENCODING_GZIP "gzip"; CONTENT_ENCODING_BR "br"; CONTENT_ENCODING_ZSTD "zstd";
        CONTENT_ENCODING_DEFLATE "deflate"; CONTENT_ENCODING_IDENTITY "identity";
    }
    CONTENT_LENGTH { CONTENT_LENGTH_0 "0"; }
    CONTENT_TYPE {
        CONTENT_TYPE_JSON "application/json"; CONTENT_TYPE_HTML_UTF8 "text/html; charset=utf-8";
        CONTENT_TYPE_HTML "text/html"; CONTENT_TYPE_PLAIN_UTF8 "text/plain; charset=utf-8";
        CONTENT_TYPE_PLAIN "text/plain"; CONTENT_TYPE_BYTES "application/octet-stream";
        CONTENT_TYPE_FORM "application/x-www-form-urlencoded"; CONTENT_TYPE_GRPC "application/grpc";
        CONTENT_TYPE_JAVASCRIPT "text/javascript"; CONTENT_TYPE_CSS "text/css"; CONTENT_TYPE_PNG "image/png";
        CONTENT_TYPE_JPEG "image/jpeg"; CONTENT_TYPE_EVENTS "text/event-stream";
    }
    EXPECT { EXPECT_CONTINUE "100-continue"; }
    PRAGMA { PRAGMA_NO_CACHE "no-cache"; }
    TE { TE_TRAILERS "trailers"; }
    TRANSFER_ENCODING { TRANSFER_ENCODING_CHUNKED "chunked"; }
    UPGRADE { UPGRADE_WEBSOCKET "websocket"; }
    VARY { VARY_ACCEPT_ENCODING "accept-encoding"; VARY_ANY "*"; }
    X_CONTENT_TYPE_OPTIONS { NOSNIFF "nosniff"; }
    X_FRAME_OPTIONS { FRAME_SAMEORIGIN "SAMEORIGIN"; FRAME_DENY "DENY"; }
}

/// Texts by id; with an entry for each value of the index type, so that no access is checked.
static TEXT: [&str; 256] = {
    let mut text = [""; 256];
    let mut row = 0;
    while row < ROWS.len() {
        text[row + 1] = ROWS[row].1;
        row += 1;
    }
    text
};

/// The first id of each group and the one after its last, by the id of the name.
static GROUPS: [(u8, u8); 256] = {
    let mut groups = [(1, 1); 256];
    let mut row = 0;
    while row < ROWS.len() {
        let group = &mut groups[ROWS[row].0.id() as usize];
        if group.1 == 1 {
            group.0 = row as u8 + 1;
        }
        assert!(group.1 == 1 || group.1 == row as u8 + 1, "the values of a name are not together");
        group.1 = row as u8 + 2;
        row += 1;
    }
    groups
};

impl KnownValue {
    /// Returns the known value with exactly these bytes under this name; compares with each known value of
    /// the name.
    #[inline]
    pub fn lookup(name: KnownName, value: &[u8]) -> Option<Self> {
        let (first, end) = GROUPS[name.id() as usize];
        (first..end).find(|id| TEXT[*id as usize].as_bytes() == value).and_then(Self::from_id)
    }

    /// Returns the value with this id, if there is one.
    #[inline]
    pub const fn from_id(id: u8) -> Option<Self> {
        match NonZeroU8::new(id) {
            Some(id) if id.get() as usize <= Self::COUNT => Some(Self(id)),
            _ => None,
        }
    }

    /// Returns the id, from 1 to [`COUNT`](Self::COUNT).
    #[inline]
    pub const fn id(self) -> u8 {
        self.0.get()
    }

    /// Returns the value.
    #[inline]
    pub const fn as_str(self) -> &'static str {
        TEXT[self.id() as usize]
    }

    /// Returns the name under which the value is known.
    #[inline]
    pub const fn name(self) -> KnownName {
        ROWS[self.id() as usize - 1].0
    }

    const fn row(id: u8) -> Self {
        Self::from_id(id).expect("a row of the table")
    }
}

impl fmt::Debug for KnownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.as_str())
    }
}

impl fmt::Display for KnownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_finds_itself_and_only_under_its_name() {
        for id in 1..=KnownValue::COUNT as u8 {
            let value = KnownValue::from_id(id).unwrap();
            for name in KnownName::all() {
                let found = KnownValue::lookup(name, value.as_str().as_bytes());
                assert_eq!(found == Some(value), name == value.name(), "{value:?} under {name}");
            }
            assert_eq!(KnownValue::lookup(value.name(), &[value.as_str().as_bytes(), b"x"].concat()), None);
            assert!(crate::text::bytes::is_field_value(value.as_str().as_bytes()));
        }
        assert_eq!(KnownValue::from_id(0), None);
        assert_eq!(KnownValue::from_id(KnownValue::COUNT as u8 + 1), None);
    }

    #[test]
    fn the_values_of_the_static_table_are_known() {
        for (name, values) in [
            (KnownName::PSEUDO_METHOD, &["GET", "POST"][..]),
            (KnownName::PSEUDO_PATH, &["/", "/index.html"]),
            (KnownName::PSEUDO_SCHEME, &["http", "https"]),
            (KnownName::PSEUDO_STATUS, &["200", "204", "206", "304", "400", "404", "500"]),
            (KnownName::ACCEPT_ENCODING, &["gzip, deflate"]),
        ] {
            assert!(
                values.iter().all(|value| KnownValue::lookup(name, value.as_bytes()).is_some()),
                "{name}"
            );
        }
    }
}
