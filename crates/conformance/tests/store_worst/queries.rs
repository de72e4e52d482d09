//! Shapes of queries: patterns, ranges, lists and walks.

use crate::attack::{Attack, filled, get, put};

pub(crate) fn patterns() -> Vec<Attack> {
    let before: Vec<_> = (0..4)
        .map(|number| {
            let terms = filled(100_000 / 4, ", ", |term| format!("{number}{term:0200}"));
            put(&format!("/buckets/b/keys/{number}"), &format!("x-riak-index-a_bin: {terms}\r\n"), b"x")
        })
        .collect();
    let units = [
        "%5Cw",
        "a%7C",
        "()",
        "%5B%5Ea%5D",
        "a?",
        "a*",
        "(?:)",
        "(?i)k",
        "(a",
        "%5Ba",
        "a%7B9%7D",
        "%5CpL",
        "(a*)*",
        ".*x",
        "%5B%5B:alpha:%5D%5D",
    ];
    let mut attacks = Vec::new();
    for prefix in ["", "(?u)", "(?iu)"] {
        for unit in units {
            for bytes in [400, 1_000, 300_000] {
                // A pattern of some hundred thousand bytes is refused, whichever it is: three show it.
                if bytes > 1_000 && !["%5Cw", "a%7C", "a?"].contains(&unit) {
                    continue;
                }
                let pattern = unit.repeat(bytes / unit.len());
                let path = format!("/buckets/b/index/a_bin/0/9?max_results=1&term_regex={prefix}{pattern}");
                attacks.push(
                    Attack::of(format!("{bytes} bytes of {prefix}{unit}"), get(&path, ""))
                        .after(before.clone(), 100_000),
                );
            }
        }
    }
    attacks
}

pub(crate) fn ranges() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (term, count) in [(1, 2_000), (1_000, 100), (20_000, 9)] {
        let terms: Vec<_> = (0..count).map(|number| format!("{number:0term$}")).collect();
        let field = format!("x-riak-index-a_bin: {}\r\n", terms.join(", "));
        let before = vec![put("/buckets/b/keys/k", &field, b"x")];
        for query in ["", "?return_terms=true", "?stream=true&return_terms=true", "?max_results=1"] {
            let path = format!("/buckets/b/index/a_bin/0/z{query}");
            let shape = format!("{count} terms of {term}{query}");
            attacks.push(Attack::of(shape, get(&path, "")).after(before.clone(), 2 * count * (term + 40)));
        }
    }
    let long = "a".repeat(200_000);
    for (shape, path) in [
        ("long ends", format!("/buckets/b/index/a_bin/{long}/{long}")),
        ("a long number", format!("/buckets/b/index/a_int/{}", "9".repeat(400_000))),
        ("a long index", format!("/buckets/b/index/{long}_bin/a")),
        ("a long continuation", format!("/buckets/b/index/a_bin/a/z?continuation={}", "A".repeat(400_000))),
        ("many parameters", format!("/buckets/b/index/a_bin/a/z?{}", "a=b&".repeat(100_000))),
        (
            "a long number of results",
            format!("/buckets/b/index/a_bin/a/z?max_results={}", "9".repeat(400_000)),
        ),
        ("a wrong parameter", format!("/buckets/b/index/a_bin/a/z?return_terms={long}")),
    ] {
        attacks.push(Attack::of(shape, get(&path, "")));
    }
    attacks
}

pub(crate) fn lists() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (shape, unit) in [("letters", "k"), ("controls", "%01"), ("bytes that are no text", "%FF")] {
        let name = |number: usize| format!("{}{number:04}", unit.repeat(20_000));
        let keys: Vec<_> =
            (0..20).map(|number| put(&format!("/buckets/b/keys/{}", name(number)), "", b"x")).collect();
        let buckets: Vec<_> =
            (0..20).map(|number| put(&format!("/buckets/{}/keys/k", name(number)), "", b"x")).collect();
        let touched = 20 * 20_000;
        for path in ["/buckets/b/keys?keys=true", "/buckets/b/keys?keys=stream", "/buckets/b/index/$key/0/~"]
        {
            attacks.push(
                Attack::of(format!("keys of {shape}, {path}"), get(path, "")).after(keys.clone(), touched),
            );
        }
        let unread =
            Attack::of(format!("keys of {shape}, unread"), get("/buckets/b/keys?keys=true", "")).unread(8);
        attacks.push(unread.after(keys.clone(), touched));
        for path in ["/buckets?buckets=true", "/buckets?buckets=stream"] {
            attacks.push(
                Attack::of(format!("buckets of {shape}, {path}"), get(path, ""))
                    .after(buckets.clone(), touched),
            );
        }
    }
    attacks
}

pub(crate) fn walks() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (objects, links, steps) in [(60, 60, 100), (300, 300, 100), (2, 2_000, 50)] {
        let link = filled(200_000, ", ", |number| match number {
            _ if number < links => format!("</buckets/b/keys/{}>; riaktag=\"t\"", number % objects),
            _ => " ".repeat(200_001),
        });
        let before: Vec<_> = (0..objects)
            .map(|key| put(&format!("/buckets/b/keys/{key}"), &format!("link: {link}\r\n"), b"x"))
            .collect();
        for last in ["_,x,1", "_,_,1"] {
            let path = format!("/buckets/b/keys/0{}/{last}", "/_,_,0".repeat(steps - 1));
            let shape = format!("{steps} steps over {objects} objects with {links} links each, then {last}");
            attacks.push(Attack::of(shape, get(&path, "")).after(before.clone(), objects * link.len()));
        }
    }
    for (shape, step) in [
        ("short steps", "/_,_,_"),
        ("empty steps", "/,,"),
        ("long steps", "/%61%61%61%61%61%61,_,_"),
        ("no steps", "/a"),
    ] {
        let path = format!("/buckets/b/keys/0{}", step.repeat(400_000 / step.len()));
        attacks.push(Attack::of(shape, get(&path, "")));
    }
    attacks
}
