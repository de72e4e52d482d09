//! The lists of fields that tests and measurements share.
#![allow(dead_code, unreachable_pub)]

use alula_hpack::{Field, Indexing};

/// A field before its name is looked up.
pub type Pair = (&'static [u8], &'static [u8]);

/// A browser's request of 471 octets.
pub const BROWSER: [Pair; 12] = [
    (b":method", b"GET"),
    (b":scheme", b"https"),
    (b":authority", b"www.example.com"),
    (b":path", b"/products/catalog?page=1&sort=price"),
    (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
    (b"accept", b"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    (b"accept-encoding", b"gzip, deflate, br, zstd"),
    (b"accept-language", b"en-US,en;q=0.5"),
    (b"cookie", b"session=7f3c9a1e5b2d4860a9c1; theme=dark; consent=1"),
    (b"referer", b"https://www.example.com/products"),
    (b"cache-control", b"max-age=0"),
    (b"x-request-id", b"3f1c8a6e9b0d4725"),
];

/// Where path and request id are in [`BROWSER`].
pub const PATH: usize = 3;
pub const REQUEST_ID: usize = 11;

/// A small request of five fields.
pub const SMALL: [Pair; 5] = [
    (b":method", b"GET"),
    (b":path", b"/"),
    (b":scheme", b"https"),
    (b":authority", b"localhost"),
    (b"foo", b"bar"),
];

/// A push notification.
pub const PUSH: [Pair; 10] = [
    (b":method", b"POST"),
    (b":path", b"/3/device/00fc13adff785122b4ad28809a3e8082045c3e7c1a9f8f58e2f57a30bad76c95"),
    (b":scheme", b"https"),
    (b":authority", b"api.push.apple.com"),
    (b"content-type", b"application/json"),
    (b"apns-topic", b"com.example.MyApp"),
    (b"apns-push-type", b"alert"),
    (b"apns-priority", b"10"),
    (b"apns-expiration", b"0"),
    (b"authorization", b"bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJBQkNERTEyMzQ1Iiwi"),
];

/// Fields with one treatment for all.
pub fn fields(pairs: &[Pair], indexing: Indexing) -> Vec<Field<'static>> {
    pairs.iter().map(|(name, value)| Field::new(name, value).with(indexing)).collect()
}

/// A browser's request for the front page: the same every time.
pub fn front_page() -> Vec<Field<'static>> {
    let mut fields = fields(&BROWSER, Indexing::Auto);
    fields[PATH].value = b"/";
    fields
}

/// Paths and request ids that are new each time, 1024 of them.
pub fn visits() -> Vec<(Vec<u8>, Vec<u8>)> {
    (0..1024u64)
        .map(|i| {
            let path = format!("/products/item-{i:08x}?ref=nav");
            let id = format!("{:016x}", (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            (path.into_bytes(), id.into_bytes())
        })
        .collect()
}

/// A browser's requests, each with its own path and id.
pub fn browsing(visits: &[(Vec<u8>, Vec<u8>)]) -> Vec<Vec<Field<'_>>> {
    visits
        .iter()
        .map(|(path, id)| {
            let mut fields: Vec<Field<'_>> = fields(&BROWSER, Indexing::Auto);
            fields[PATH].value = path;
            fields[REQUEST_ID].value = id;
            fields
        })
        .collect()
}
