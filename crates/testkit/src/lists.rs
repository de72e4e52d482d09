//! The exact lists of fields that all figures are about, and the texts of the Huffman workloads.
//!
//! The peers in `crates/bench/figures/peers.txt` were measured with the same lists, so changing a letter here
//! makes a new workload.

/// A name and a value.
pub type Pair = (&'static str, &'static str);

/// A browser's request, 471 bytes of names and values: HPACK cases a to e.
pub const BROWSER: [Pair; 12] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "www.example.com"),
    (":path", "/products/catalog?page=1&sort=price"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("accept-language", "en-US,en;q=0.5"),
    ("cookie", "session=7f3c9a1e5b2d4860a9c1; theme=dark; consent=1"),
    ("referer", "https://www.example.com/products"),
    ("cache-control", "max-age=0"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

/// Where in [`BROWSER`] the path is.
pub const PATH: usize = 3;

/// Where in [`BROWSER`] the request id is.
pub const REQUEST_ID: usize = 11;

/// How many lists case b goes through.
pub const VISITS: usize = 1024;

/// Path and request id of list `number` of case b.
pub fn visit(number: usize) -> [String; 2] {
    let id = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [format!("/products/item-{number:08x}?ref=nav"), format!("{id:016x}")]
}

/// The fields of a created request.
pub const CREATED: [Pair; 8] = [
    ("user-agent", "alula-bench/1.0"),
    ("accept", "application/json, text/plain, */*"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-language", "en-US,en;q=0.5"),
    ("cache-control", "no-cache"),
    ("cookie", "session=7f3c9a1e5b2d4860a9c1; theme=dark"),
    ("referer", "http://example.com/products"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

/// The fields of a client's request.
pub const REQUEST: [Pair; 10] = [
    CREATED[0],
    CREATED[1],
    CREATED[2],
    CREATED[3],
    CREATED[4],
    CREATED[5],
    CREATED[6],
    CREATED[7],
    ("x-trace", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("x-client", "bench"),
];

/// The fields of the fixed server's answer, behind `:status` and `content-length`.
pub const RESPONSE: [Pair; 9] = [
    ("content-type", "application/json"),
    ("date", "Fri, 20 Nov 2026 12:00:00 GMT"),
    ("server", "fixed"),
    ("cache-control", "public, max-age=3600"),
    ("etag", "\"5f3c9a1e-400\""),
    ("last-modified", "Mon, 16 Nov 2026 08:30:00 GMT"),
    ("vary", "accept-encoding"),
    ("x-content-type-options", "nosniff"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

/// The fields of a public home page, behind `:status` and `content-length`.
pub const PAGE: [Pair; 24] = [
    ("content-type", "text/html; charset=utf-8"),
    ("date", "Fri, 20 Nov 2026 12:00:00 GMT"),
    ("server", "fixed"),
    ("cache-control", "private, max-age=0"),
    ("expires", "-1"),
    ("etag", "W/\"2bf20-19a9d3c\""),
    ("last-modified", "Mon, 16 Nov 2026 08:30:00 GMT"),
    ("vary", "Accept-Encoding"),
    ("accept-ranges", "none"),
    ("age", "0"),
    ("via", "2 edge-17"),
    ("alt-svc", "h3=\":443\"; ma=86400"),
    ("strict-transport-security", "max-age=31536000"),
    (
        "content-security-policy",
        "object-src 'none'; base-uri 'self'; script-src 'nonce-4f1d' 'strict-dynamic'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-xss-protection", "0"),
    ("referrer-policy", "strict-origin-when-cross-origin"),
    ("permissions-policy", "unload=()"),
    ("cross-origin-opener-policy", "same-origin-allow-popups"),
    ("access-control-allow-origin", "*"),
    ("x-cache", "HIT"),
    ("x-served-by", "cache-edge-17"),
    ("x-request-id", "3f1c8a6e9b0d4725"),
];

/// Four fields whose names are spelled as nobody spells them.
pub const ODD: [Pair; 4] = [
    ("Content-Type", "application/json"),
    ("ACCEPT-encoding", "gzip, deflate, br"),
    ("X-Request-ID", "3f1c8a6e9b0d4725"),
    ("X-cliEnt-Shard", "shard-17"),
];

/// The same name four times.
pub const SAME: [Pair; 4] = [
    ("Set-Cookie", "session=7f3c9a1e5b2d4860a9c1"),
    ("Set-Cookie", "theme=dark"),
    ("Set-Cookie", "consent=1"),
    ("Set-Cookie", "shard=17; Path=/"),
];

/// Methods of which two are CONNECT to those who fold case, and one to all others.
pub const METHODS: [&str; 3] = ["POST", "connect", "CONNECT"];

/// The smallest request there is, and one field.
pub const LOCALHOST: [Pair; 5] =
    [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "localhost"), ("foo", "bar")];

/// A push notification.
pub const PUSH: [Pair; 10] = [
    (":method", "POST"),
    (":path", "/3/device/00fc13adff785122b4ad28809a3e8082045c3e7c1a9f8f58e2f57a30bad76c95"),
    (":scheme", "https"),
    (":authority", "api.push.apple.com"),
    ("content-type", "application/json"),
    ("apns-topic", "com.example.MyApp"),
    ("apns-push-type", "alert"),
    ("apns-priority", "10"),
    ("apns-expiration", "0"),
    ("authorization", "bearer eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJBQkNERTEyMzQ1Iiwi"),
];

/// The path of push notification `number`, to a device of its own.
pub fn device(number: usize) -> String {
    let [a, b, c, d] = [1, 2, 3, 4].map(|salt| (number as u64 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    format!("/3/device/{a:016x}{b:016x}{c:016x}{d:016x}")
}

/// 245 bytes with CR, LF and a tab.
pub const ENGLISH: &str = "The little wing that sits on the thumb of a bird keeps the air from tearing off \
    when it flies slowly;\r\n\tso a falcon can climb, stall and land on a branch without a fall. Pilots put the same \
    thing on the front of a wing and call it a slat, truly.";

/// 149 bytes, nearly all of them of three-byte characters.
pub const JAPANESE: &str =
    "小翼羽は鳥の親指に生える短い羽根で、ゆっくり飛ぶ時に翼から空気が剥がれるのを防ぐ。飛行機にもある。ok";

/// A text, doubled until it has at least 128 KiB.
pub fn doubled(text: &str) -> String {
    let mut doubled = text.to_owned();
    while doubled.len() < 128 * 1024 {
        doubled = doubled.repeat(2);
    }
    doubled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pairs: &[Pair]) -> usize {
        pairs.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    #[test]
    fn the_lists_are_as_long_as_they_are_said_to_be() {
        assert_eq!(bytes(&BROWSER), 471);
        assert_eq!(BROWSER[PATH].0, ":path");
        assert_eq!(BROWSER[REQUEST_ID].0, "x-request-id");
        assert_eq!((ENGLISH.len(), doubled(ENGLISH).len()), (245, 250_880));
        assert_eq!((JAPANESE.len(), doubled(JAPANESE).len()), (149, 152_576));
    }
}
