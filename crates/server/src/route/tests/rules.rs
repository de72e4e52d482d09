//! A table for each rule: paths, and what they come to.

use super::check;
use crate::route::{
    DotSegments, EmptySegments, EncodedSlash, PlusSign, Segments, SlashChange, TrailingSlash, decode,
};

const DATA: Segments = Segments::OBJECT_KEYS;

#[test]
fn literals_go_before_captures_and_captures_before_the_rest() {
    let patterns =
        ["/", "/a", "/a/b", "/a/{x}", "/{x}/b", "/{x}/{y}/c", "/a/{*rest}", "/{*rest}", "/longer-than-a-key"];
    check(
        Segments::STRICT,
        &patterns,
        &[
            ("/", "/"),
            ("/a", "/a"),
            ("/a/b", "/a/b"),
            ("/a/c", "/a/{x} x=c"),
            ("/c/b", "/{x}/b x=c"),
            // The way by the literal and the capture behind it leads nowhere; its `{*rest}` goes before the
            // way by `{x}`.
            ("/a/b/c", "/a/{*rest} rest=b/c"),
            ("/c/b/c", "/{x}/{y}/c x=c y=b"),
            ("/c/b/d", "/{*rest} rest=c/b/d"),
            ("/a/", "/a/{*rest} rest="),
            ("/c/", "/{*rest} rest=c/"),
            ("/longer-than-a-key", "/longer-than-a-key"),
            ("/longer-than-a-kez", "/{*rest} rest=longer-than-a-kez"),
            ("/longer-t", "/{*rest} rest=longer-t"),
            ("/A", "/{*rest} rest=A"),
            ("/%61", "/{*rest} rest=%61"),
            ("*", "-"),
            ("", "-"),
            ("a", "-"),
        ],
    );
}

#[test]
fn a_choice_that_leads_nowhere_is_taken_back() {
    let patterns = ["/a/b/c/d", "/a/{x}/c/e", "/{w}/b/{y}/f", "/{w}/{x}/{y}/{z}/g"];
    check(
        DATA,
        &patterns,
        &[
            ("/a/b/c/d", "/a/b/c/d"),
            ("/a/b/c/e", "/a/{x}/c/e x=b"),
            ("/a/b/c/f", "/{w}/b/{y}/f w=a y=c"),
            ("/a/b/c/d/g", "/{w}/{x}/{y}/{z}/g w=a x=b y=c z=d"),
            ("/a/b/c/g", "-"),
        ],
    );
}

#[test]
fn empty_segments() {
    let patterns = ["/a/{x}", "/r/{*rest}", "/b"];
    check(
        DATA,
        &["/a/{x}", "/r/{*rest}", "/b", "/b//c", "//d"],
        &[
            ("/a//x", "-"),
            ("/a//", "-"),
            ("/b//c", "/b//c"),
            ("//d", "//d"),
            ("/d", "-"),
            ("/r//x//y/", "/r/{*rest} rest=/x//y/"),
            ("//b", "-"),
        ],
    );
    check(
        DATA.empty_segments(EmptySegments::Drop),
        &patterns,
        &[
            ("/a//x", "/a/{x} x=x"),
            ("//a///x", "/a/{x} x=x"),
            ("//b", "/b"),
            ("/b//", "-"),
            ("/r//x//y/", "/r/{*rest} rest=x//y/"),
            ("/r//", "/r/{*rest} rest="),
        ],
    );
    check(
        DATA.empty_segments(EmptySegments::Refuse),
        &patterns,
        &[
            ("/a//x", "EmptySegment"),
            ("//b", "EmptySegment"),
            ("/r/x//y", "EmptySegment"),
            ("/r//", "EmptySegment"),
            ("/r//x", "EmptySegment"),
            ("/r/x/", "/r/{*rest} rest=x/"),
            ("/nothing//here", "EmptySegment"),
            ("/nothing/", "-"),
        ],
    );
}

#[test]
fn trailing_slashes() {
    let patterns = ["/", "/a", "/b/", "/c", "/c/{*rest}", "/{x}/d", "/e/{y}"];
    let cases = |ignored: [&'static str; 7]| {
        let paths = ["/a/", "/b", "/c/", "/z/d/", "/e/f/", "/e/", "/"];
        paths.into_iter().zip(ignored).collect::<Vec<_>>()
    };
    let strict = ["-", "-", "/c/{*rest} rest=", "-", "-", "-", "/"];
    check(Segments::STRICT, &patterns, &cases(strict));
    let ignore = ["/a", "/b/", "/c", "/{x}/d x=z", "/e/{y} y=f", "-", "/"];
    check(DATA.trailing_slash(TrailingSlash::Ignore), &patterns, &cases(ignore));
    let redirect = ["-/ /a", "+/ /b/", "/c/{*rest} rest=", "-/ /{x}/d x=z", "-/ /e/{y} y=f", "-", "/"];
    check(DATA.trailing_slash(TrailingSlash::Redirect), &patterns, &cases(redirect));
}

#[test]
fn a_redirect_counts_only_when_nothing_matches_as_it_stands() {
    let redirect = Segments::STRICT.trailing_slash(TrailingSlash::Redirect);
    check(
        redirect,
        &["/a", "/{x}/", "/f/{*rest}"],
        &[
            ("/a/", "/{x}/ x=a"),
            ("/b", "+/ /{x}/ x=b"),
            ("/f", "+/ /f/{*rest} rest="),
            ("/f/", "/f/{*rest} rest="),
            ("/f/..", "DotSegment"),
            ("/..", "DotSegment"),
        ],
    );
    check(redirect, &["/f/{*rest}"], &[("/f", "+/ /f/{*rest} rest=")]);
    check(
        Segments::STRICT.trailing_slash(TrailingSlash::Ignore),
        &["/f/{*rest}"],
        &[("/f", "/f/{*rest} rest="), ("/f/", "/f/{*rest} rest="), ("/f/a/", "/f/{*rest} rest=a/")],
    );
}

#[test]
fn redirects_stay_on_this_server() {
    let location = |change: SlashChange, path: &str, query: Option<&str>, options| {
        let location = change.location(path.as_bytes(), query.map(str::as_bytes), options);
        String::from_utf8(location).expect("ASCII")
    };
    use SlashChange::{Added, Removed};
    let drops = DATA.empty_segments(EmptySegments::Drop);
    let separates = DATA.encoded_slash(EncodedSlash::Separate);
    for (change, path, query, options, expected) in [
        (Added, "/a", None, DATA, "/a/"),
        (Removed, "/a/", Some("q=1"), DATA, "/a?q=1"),
        (Removed, "/a//", None, DATA, "/a/"),
        (Removed, "/a//", None, drops, "/a"),
        (Removed, "/a%2F", None, separates, "/a"),
        (Removed, "/a%2F", None, DATA, "/a%2F"),
        (Removed, "//evil.example/", None, drops, "/.//evil.example"),
        (Added, "/\\evil.example", Some(""), DATA, "/./\\evil.example/?"),
    ] {
        assert_eq!(location(change, path, query, options), expected);
    }
}

#[test]
fn encoded_slashes() {
    let patterns = ["/a/{x}", "/r/{*rest}", "/a/b/c"];
    let cases = |expected: [&'static str; 4]| {
        let paths = ["/a/b%2Fc", "/a/b%2fd", "/r/x%2Fy", "/a%2Fb"];
        paths.into_iter().zip(expected).collect::<Vec<_>>()
    };
    check(DATA, &patterns, &cases(["/a/{x} x=b%2Fc", "/a/{x} x=b%2fd", "/r/{*rest} rest=x%2Fy", "-"]));
    let separate = DATA.encoded_slash(EncodedSlash::Separate);
    check(separate, &patterns, &cases(["/a/b/c", "-", "/r/{*rest} rest=x%2Fy", "/a/{x} x=b"]));
    let refuse = DATA.encoded_slash(EncodedSlash::Refuse);
    check(refuse, &patterns, &cases(["EncodedSlash"; 4]));
    // A `{*rest}` behind an encoded slash begins a segment too.
    let strict = separate.empty_segments(EmptySegments::Refuse).dot_segments(DotSegments::Refuse);
    let cases = [("/r%2F../x", "DotSegment"), ("/r%2F/x", "EmptySegment"), ("/r%2f%2Fx", "EmptySegment")];
    check(strict, &patterns, &cases);
    let both = separate.empty_segments(EmptySegments::Drop).trailing_slash(TrailingSlash::Ignore);
    check(both, &patterns, &[("%2Fa/b", "-"), ("/%2fa%2F/b/%2F", "/a/{x} x=b")]);
}

#[test]
fn dot_segments() {
    let patterns = ["/a/{x}", "/r/{*rest}"];
    let refused = [
        "/a/.",
        "/a/..",
        "/a/%2e",
        "/a/%2E.",
        "/a/.%2e",
        "/a/%2e%2E",
        "/r/x/../y",
        "/r/..",
        "/r/x/.",
        "/..",
        "/a/..%2Fetc",
        "/a/x%2f..",
        "/r/x%2f%2e%2E%2fy",
        "/nothing/../here",
    ];
    for path in refused {
        check(Segments::STRICT, &patterns, &[(path, "DotSegment")]);
    }
    for path in ["/a/...", "/a/.x", "/a/x..", "/a/%2e%2e%2e", "/a/%2", "/a/%", "/r/.../..x", "/a/%2d."] {
        let expected = if path.starts_with("/a") {
            format!("/a/{{x}} x={}", &path[3..])
        } else {
            format!("/r/{{*rest}} rest={}", &path[3..])
        };
        check(Segments::STRICT, &patterns, &[(path, &expected)]);
    }
    check(
        Segments::STRICT.dot_segments(DotSegments::Literal),
        &["/a/{x}", "/r/{*rest}", "/a/.."],
        &[("/a/..", "/a/.."), ("/a/%2e", "/a/{x} x=%2e"), ("/r/../x", "/r/{*rest} rest=../x")],
    );
}

#[test]
fn presets() {
    let patterns = ["/o/{*key}", "/p/{x}"];
    let hostile = ["/o/a//b", "/o/a%2Fb", "/o/../b", "/p/x+y", "/o/k/"];
    let expect = |options, expected: [&str; 5]| {
        check(options, &patterns, &hostile.into_iter().zip(expected).collect::<Vec<_>>());
    };
    let last = ["/p/{x} x=x+y", "/o/{*key} key=k/"];
    expect(Segments::default(), ["EmptySegment", "/o/{*key} key=a%2Fb", "DotSegment", last[0], last[1]]);
    expect(Segments::FILES, ["/o/{*key} key=a//b", "EncodedSlash", "DotSegment", last[0], last[1]]);
    let keys = ["/o/{*key} key=a//b", "/o/{*key} key=a%2Fb", "/o/{*key} key=../b", last[0], last[1]];
    expect(Segments::OBJECT_KEYS, keys);
}

#[test]
fn literals_that_begin_alike_are_told_apart() {
    let patterns = ["/attribut", "/attribute", "/attributed", "/attributes", "/attrs", "/{name}"];
    for pattern in &patterns[..5] {
        check(DATA, &patterns, &[(pattern, pattern)]);
    }
    let others = [
        ("/attribution", "/{name} name=attribution"),
        ("/attribu", "/{name} name=attribu"),
        ("/attributez", "/{name} name=attributez"),
        ("/zone", "/{name} name=zone"),
    ];
    check(DATA, &patterns, &others);
}

#[test]
fn captures_are_decoded_once() {
    let form = DATA.plus_sign(PlusSign::Space);
    let text = |raw: &str, options| decode(raw.as_bytes(), options).map(|bytes| bytes.into_owned());
    assert_eq!(text("plain+text", DATA), Ok(b"plain+text".to_vec()));
    assert_eq!(text("a+b%2Bc", form), Ok(b"a b+c".to_vec()));
    assert_eq!(text("%41%5a%7e%fF%00%2525", DATA), Ok(b"AZ~\xff\0%25".to_vec()));
    assert!(matches!(decode(b"borrowed", form), Ok(std::borrow::Cow::Borrowed(_))));
    for (raw, position) in [("%", 0), ("a%2", 1), ("%2g", 0), ("%41%+1", 3), ("%%41", 0), ("x%é", 1)] {
        assert_eq!(text(raw, DATA).map_err(|malformed| malformed.position), Err(position), "{raw}");
    }
}
