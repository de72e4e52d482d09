//! The static table (RFC 7541 Appendix A), in the order of the RFC; the first row has index 1.
//!
//! Every name in it is a known name, and ids of known names count in the same order: names are found by id,
//! not by searching. The finder at the end is derived from the rows when the crate is compiled.

use alula_fields::KnownName;

use crate::encode::class::Class;

/// A row of the static table.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: KnownName,
    pub(crate) value: &'static str,
    pub(crate) class: Class,
    /// The beginning of the value, which is compared before the value itself.
    head: u64,
}

/// The highest index of the static table; higher ones are in the dynamic table (RFC 7541 §2.3.3).
pub(crate) const LAST: u32 = 61;

/// The rows by index; row 0 is unused. The table is as long as the seven bits of a short index reach.
pub(crate) static ROWS: [Row; 128] = {
    let mut rows = [TABLE[0]; 128];
    let mut index = 0;
    while index < TABLE.len() {
        rows[index + 1] = TABLE[index];
        index += 1;
    }
    rows
};

const fn row(name: KnownName, value: &'static str) -> Row {
    Row { name, value, class: Class::of_static(name.is_pseudo()), head: head(value.as_bytes()) }
}

#[rustfmt::skip]
const TABLE: [Row; LAST as usize] = [
    row(KnownName::PSEUDO_AUTHORITY, ""),                         //  1
    row(KnownName::PSEUDO_METHOD, "GET"),                         //  2
    row(KnownName::PSEUDO_METHOD, "POST"),                        //  3
    row(KnownName::PSEUDO_PATH, "/"),                             //  4
    row(KnownName::PSEUDO_PATH, "/index.html"),                   //  5
    row(KnownName::PSEUDO_SCHEME, "http"),                        //  6
    row(KnownName::PSEUDO_SCHEME, "https"),                       //  7
    row(KnownName::PSEUDO_STATUS, "200"),                         //  8
    row(KnownName::PSEUDO_STATUS, "204"),                         //  9
    row(KnownName::PSEUDO_STATUS, "206"),                         // 10
    row(KnownName::PSEUDO_STATUS, "304"),                         // 11
    row(KnownName::PSEUDO_STATUS, "400"),                         // 12
    row(KnownName::PSEUDO_STATUS, "404"),                         // 13
    row(KnownName::PSEUDO_STATUS, "500"),                         // 14
    row(KnownName::ACCEPT_CHARSET, ""),                           // 15
    row(KnownName::ACCEPT_ENCODING, "gzip, deflate"),             // 16
    row(KnownName::ACCEPT_LANGUAGE, ""),                          // 17
    row(KnownName::ACCEPT_RANGES, ""),                            // 18
    row(KnownName::ACCEPT, ""),                                   // 19
    row(KnownName::ACCESS_CONTROL_ALLOW_ORIGIN, ""),              // 20
    row(KnownName::AGE, ""),                                      // 21
    row(KnownName::ALLOW, ""),                                    // 22
    row(KnownName::AUTHORIZATION, ""),                            // 23
    row(KnownName::CACHE_CONTROL, ""),                            // 24
    row(KnownName::CONTENT_DISPOSITION, ""),                      // 25
    row(KnownName::CONTENT_ENCODING, ""),                         // 26
    row(KnownName::CONTENT_LANGUAGE, ""),                         // 27
    row(KnownName::CONTENT_LENGTH, ""),                           // 28
    row(KnownName::CONTENT_LOCATION, ""),                         // 29
    row(KnownName::CONTENT_RANGE, ""),                            // 30
    row(KnownName::CONTENT_TYPE, ""),                             // 31
    row(KnownName::COOKIE, ""),                                   // 32
    row(KnownName::DATE, ""),                                     // 33
    row(KnownName::ETAG, ""),                                     // 34
    row(KnownName::EXPECT, ""),                                   // 35
    row(KnownName::EXPIRES, ""),                                  // 36
    row(KnownName::FROM, ""),                                     // 37
    row(KnownName::HOST, ""),                                     // 38
    row(KnownName::IF_MATCH, ""),                                 // 39
    row(KnownName::IF_MODIFIED_SINCE, ""),                        // 40
    row(KnownName::IF_NONE_MATCH, ""),                            // 41
    row(KnownName::IF_RANGE, ""),                                 // 42
    row(KnownName::IF_UNMODIFIED_SINCE, ""),                      // 43
    row(KnownName::LAST_MODIFIED, ""),                            // 44
    row(KnownName::LINK, ""),                                     // 45
    row(KnownName::LOCATION, ""),                                 // 46
    row(KnownName::MAX_FORWARDS, ""),                             // 47
    row(KnownName::PROXY_AUTHENTICATE, ""),                       // 48
    row(KnownName::PROXY_AUTHORIZATION, ""),                      // 49
    row(KnownName::RANGE, ""),                                    // 50
    row(KnownName::REFERER, ""),                                  // 51
    row(KnownName::REFRESH, ""),                                  // 52
    row(KnownName::RETRY_AFTER, ""),                              // 53
    row(KnownName::SERVER, ""),                                   // 54
    row(KnownName::SET_COOKIE, ""),                               // 55
    row(KnownName::STRICT_TRANSPORT_SECURITY, ""),                // 56
    row(KnownName::TRANSFER_ENCODING, ""),                        // 57
    row(KnownName::USER_AGENT, ""),                               // 58
    row(KnownName::VARY, ""),                                     // 59
    row(KnownName::VIA, ""),                                      // 60
    row(KnownName::WWW_AUTHENTICATE, ""),                         // 61
];

/// Returns the index of one of the most common pairs of name and value.
#[inline]
pub(crate) fn quick(name: KnownName, value: &[u8]) -> Option<u8> {
    // A chain, not a table of jumps: there are few, and the first are the commonest.
    let (index, is_it) = if name == KnownName::PSEUDO_METHOD {
        if value.len() == 4 { (3, value == b"POST") } else { (2, value == b"GET") }
    } else if name == KnownName::PSEUDO_PATH {
        (4, value == b"/")
    } else if name == KnownName::PSEUDO_SCHEME {
        if value.len() == 4 { (6, value == b"http") } else { (7, value == b"https") }
    } else {
        (8, name == KnownName::PSEUDO_STATUS && value == b"200")
    };
    is_it.then_some(index)
}

/// The rows of a name in the static table: `first .. first + count`; a count of zero says that it has none.
#[derive(Clone, Copy)]
pub(crate) struct NameRows {
    pub(crate) first: u8,
    count: u8,
    /// True if one of the rows has a value.
    has_values: bool,
}

impl NameRows {
    /// Returns the rows of this name.
    #[inline]
    pub(crate) fn of(name: KnownName) -> Self {
        PLACES[usize::from(name.id())]
    }

    /// Returns the index of the row with exactly this value, if there is one.
    #[inline]
    pub(crate) fn index_of(self, value: &[u8]) -> Option<u8> {
        if !self.has_values {
            return if self.count != 0 && value.is_empty() { Some(self.first) } else { None };
        }
        let head = head(value);
        (self.first..self.first + self.count).find(|&index| {
            let row = &ROWS[usize::from(index & 127)];
            row.head == head
                && row.value.len() == value.len()
                && (value.len() <= 8 || row.value.as_bytes() == value)
        })
    }
}

static PLACES: [NameRows; 256] = {
    let mut places = [NameRows { first: 0, count: 0, has_values: false }; 256];
    let mut index = 0;
    while index < TABLE.len() {
        let place = &mut places[TABLE[index].name.id() as usize];
        // Rows of one name follow each other, or one place would not do.
        assert!(place.count == 0 || place.first as usize + place.count as usize == index + 1);
        if place.count == 0 {
            place.first = index as u8 + 1;
        }
        place.count += 1;
        place.has_values |= !TABLE[index].value.is_empty();
        index += 1;
    }
    places
};

/// Returns up to eight bytes from the beginning of a value, in one word.
#[inline]
const fn head(value: &[u8]) -> u64 {
    if let Some(word) = value.first_chunk::<8>() {
        return u64::from_le_bytes(*word);
    }
    if let Some(first) = value.first_chunk::<4>()
        && let Some(last) = value.last_chunk::<4>()
    {
        let (first, last) = (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64);
        return first | last << (8 * (value.len() - 4));
    }
    match *value {
        [a, b, c] => a as u64 | (b as u64) << 8 | (c as u64) << 16,
        [a, b] => a as u64 | (b as u64) << 8,
        [a] => a as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_finds_itself_and_nothing_near_it() {
        for index in 1..=LAST as u8 {
            let row = &ROWS[usize::from(index)];
            let place = NameRows::of(row.name);
            assert_eq!(place.index_of(row.value.as_bytes()), Some(index), "{index}");
            assert_eq!(place.index_of(b"something else"), None);
            assert!(place.first <= index && index < place.first + place.count);
            if let Some(quick) = quick(row.name, row.value.as_bytes()) {
                assert_eq!(quick, index);
            }
            let known = KnownName::lookup(row.name.as_str().as_bytes());
            assert_eq!(known, Some(row.name));
        }
        assert_eq!(
            (1..=LAST as usize)
                .filter(|&at| quick(ROWS[at].name, ROWS[at].value.as_bytes()).is_some())
                .count(),
            6
        );
        assert_eq!(NameRows::of(KnownName::PSEUDO_STATUS).index_of(b"200"), Some(8));
        assert_eq!(NameRows::of(KnownName::PSEUDO_STATUS).index_of(b"2000"), None);
        assert_eq!(NameRows::of(KnownName::PSEUDO_STATUS).index_of(b"20\0"), None);
        assert_eq!(NameRows::of(KnownName::PSEUDO_STATUS).index_of(b"200\0"), None);
        assert_eq!(NameRows::of(KnownName::PSEUDO_PROTOCOL).index_of(b""), None);
        assert_eq!(NameRows::of(KnownName::ACCEPT_ENCODING).index_of(b"gzip, deflat"), None);
        assert_eq!(NameRows::of(KnownName::ACCEPT_ENCODING).index_of(b"gzip, deflatf"), None);
        assert_eq!(NameRows::of(KnownName::PSEUDO_PATH).index_of(b""), None);
    }

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 32);
        assert_eq!(size_of::<NameRows>(), 3);
    }
}
