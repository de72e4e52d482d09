//! Requests that repeat and requests that vary, for drivers, fixed servers and the peers they are compared
//! with.
//!
//! Every figure beside a peer's is counted under one of these, so changing a letter here makes another load.

use crate::lists::{Pair, RESPONSE};

/// The manner in which the requests of a load differ from each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Traffic {
    /// The request of h2load, the same every time.
    Repeated,
    /// The same with another query and another request id each time.
    Varied,
    /// The requests of 50 browsers in no order, forwarded by a proxy: 15 fields, with a query, a request id
    /// and a trace of its own each.
    Proxied,
}

/// A field whose value was made.
pub type Field = (&'static str, String);

/// The parts of a request that are new in each.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ids {
    /// The query: `item=` and eight digits.
    pub query: String,
    /// The request id, 16 digits.
    pub request: String,
    /// The trace, as `traceparent` has it: 55 bytes.
    pub trace: String,
}

/// The number of browsers that [`Traffic::Proxied`] mixes.
pub const BROWSERS: usize = 50;

/// The value of h2load's `user-agent`.
const H2LOAD: &str = "h2load nghttp2/1.52.0";

const AGENTS: [&str; 5] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 Version/17.6 Mobile Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
];

const ACCEPTED: [&str; 3] = [
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "application/json, text/plain, */*",
    "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
];

const LANGUAGES: [&str; 4] = ["en-US,en;q=0.5", "de-DE,de;q=0.9,en;q=0.7", "ja,en;q=0.8", "pt-BR,pt;q=0.9"];

impl Traffic {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Repeated, Self::Varied, Self::Proxied];

    /// The word for it on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Varied => "varied",
            Self::Proxied => "proxied",
        }
    }

    /// The one of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|traffic| traffic.name() == name)
    }

    /// The fields of request `number` of a load, pseudo-fields first.
    pub fn request(self, number: usize, authority: &str) -> Vec<Field> {
        match self {
            Self::Repeated => h2load("/hello".to_owned(), authority),
            Self::Varied => {
                let Ids { query, request, .. } = ids(number);
                let mut fields = h2load(format!("/hello?{query}"), authority);
                fields.push(("x-request-id", request));
                fields
            }
            Self::Proxied => forwarded(number, authority),
        }
    }
}

/// As h2load 1.52 sends them, in its order.
fn h2load(path: String, authority: &str) -> Vec<Field> {
    vec![
        (":path", path),
        (":scheme", "http".to_owned()),
        (":authority", authority.to_owned()),
        (":method", "GET".to_owned()),
        ("user-agent", H2LOAD.to_owned()),
    ]
}

fn forwarded(number: usize, authority: &str) -> Vec<Field> {
    let browser = (hash(number) >> 32) as usize % BROWSERS;
    let Ids { query, request, trace } = ids(number);
    let session = hash(browser + 1_000_000);
    let constant = |name, value: &str| (name, value.to_owned());
    vec![
        constant(":method", "GET"),
        constant(":scheme", "http"),
        constant(":authority", authority),
        (":path", format!("/hello?{query}&ref=nav")),
        constant("user-agent", AGENTS[browser % AGENTS.len()]),
        constant("accept", ACCEPTED[browser % ACCEPTED.len()]),
        constant("accept-encoding", "gzip, deflate, br, zstd"),
        constant("accept-language", LANGUAGES[browser % LANGUAGES.len()]),
        ("cookie", format!("session={session:016x}; theme=dark; consent=1; tz=60")),
        constant("referer", "https://www.example.com/products"),
        constant("cache-control", "max-age=0"),
        ("x-request-id", request),
        ("x-forwarded-for", format!("203.0.113.{browser}")),
        constant("x-forwarded-proto", "https"),
        ("traceparent", trace),
    ]
}

/// The parts that are new in request `number`.
pub fn ids(number: usize) -> Ids {
    let [request, high, low] = [1, 2, 3].map(|salt| hash(number * 4 + salt));
    Ids {
        query: format!("item={number:08x}"),
        request: format!("{request:016x}"),
        trace: format!("00-{high:016x}{low:016x}-{request:016x}-01"),
    }
}

/// The fields of answer `number` behind `:status` and `content-length`: those of [`RESPONSE`] with another
/// entity tag and request id each time, one of sixty times of modification, and a date that moves on every
/// thousand answers.
pub fn answer(number: usize) -> Vec<Field> {
    let vary = |(name, value): Pair| {
        let value = match name {
            "date" => {
                format!("Fri, 20 Nov 2026 12:{:02}:{:02} GMT", number / 60_000 % 60, number / 1000 % 60)
            }
            "etag" => format!("\"{:08x}-400\"", hash(number) >> 32),
            "last-modified" => format!("Mon, 16 Nov 2026 08:30:{:02} GMT", number % 60),
            "x-request-id" => ids(number).request,
            _ => value.to_owned(),
        };
        (name, value)
    };
    RESPONSE.map(vary).to_vec()
}

fn hash(number: usize) -> u64 {
    // SplitMix64.
    let mut mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn bytes(fields: &[Field]) -> usize {
        fields.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    fn mean(traffic: Traffic) -> usize {
        (0..1024).map(|number| bytes(&traffic.request(number, "www.example.com"))).sum::<usize>() / 1024
    }

    #[test]
    fn the_loads_are_as_long_as_they_were_when_peers_were_counted() {
        assert_eq!(Traffic::ALL.map(mean), [88, 130, 586]);
    }

    #[test]
    fn a_proxy_mixes_all_browsers() {
        let cookie = |number| Traffic::Proxied.request(number, "").remove(8).1;
        assert_eq!((0..1024).map(cookie).collect::<HashSet<_>>().len(), BROWSERS);
    }

    #[test]
    fn what_varies_is_new_in_each_request_and_answer() {
        let new = |of: fn(usize) -> Vec<Field>| (0..1024).map(of).collect::<HashSet<_>>().len();
        assert_eq!(new(|number| Traffic::Repeated.request(number, "")), 1);
        assert_eq!(new(|number| Traffic::Varied.request(number, "")), 1024);
        assert_eq!(new(|number| Traffic::Proxied.request(number, "")), 1024);
        assert_eq!(new(answer), 1024);
    }

    #[test]
    fn names_are_parsed() {
        assert_eq!(Traffic::ALL.map(|traffic| Traffic::parse(traffic.name())), Traffic::ALL.map(Some));
        assert_eq!(Traffic::parse("none"), None);
    }
}
