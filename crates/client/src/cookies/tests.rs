use super::*;

/// Returns the cookies for a URL after these cookies came from elsewhere.
fn told(cookies: &[(&str, &str)], url: &str) -> String {
    let jar = Jar::new();
    for (from, cookie) in cookies {
        // What is not kept is what some rows are about.
        let _ = jar.add(from, cookie);
    }
    jar.cookies_for(url).unwrap().unwrap_or_default()
}

#[test]
fn cookies_go_where_they_belong() {
    const WWW: &str = "http://www.example.com/a/b";
    const TLS: &str = "https://www.example.com/a/b";
    for (row, from, cookie, to, expected) in [
        ("same URL", WWW, "k=v", WWW, "k=v"),
        ("default path", WWW, "k=v", "http://www.example.com/a/", "k=v"),
        ("above the default path", WWW, "k=v", "http://www.example.com/", ""),
        ("path", WWW, "k=v; Path=/x", "http://www.example.com/x/y", "k=v"),
        ("path is no prefix of text", WWW, "k=v; Path=/x", "http://www.example.com/xy", ""),
        ("another port", WWW, "k=v", "http://www.example.com:8080/a/b", "k=v"),
        ("this host only", WWW, "k=v; Path=/", "http://a.www.example.com/", ""),
        ("domain", WWW, "k=v; Domain=example.com; Path=/", "http://other.example.com/", "k=v"),
        ("domain with a dot", WWW, "k=v; Domain=.EXAMPLE.com; Path=/", "http://example.com/", "k=v"),
        ("another's domain", WWW, "k=v; Domain=example.org; Path=/", "http://example.org/", ""),
        ("a domain below", WWW, "k=v; Domain=a.www.example.com; Path=/", "http://a.www.example.com/", ""),
        ("half a label", WWW, "k=v; Domain=ample.com; Path=/", "http://ample.com/", ""),
        ("a public suffix", WWW, "k=v; Domain=com; Path=/", WWW, ""),
        ("a public suffix of two", "http://a.co.uk/", "k=v; Domain=co.uk", "http://b.co.uk/", ""),
        ("a private suffix", "http://a.github.io/", "k=v; Domain=github.io", "http://a.github.io/", ""),
        ("a suffix itself", "http://github.io/", "k=v; Domain=github.io", "http://github.io/", "k=v"),
        ("not below that", "http://github.io/", "k=v; Domain=github.io", "http://a.github.io/", ""),
        ("an unknown suffix", "http://a.internal/", "k=v; Domain=internal", "http://b.internal/", ""),
        ("an address", "http://127.0.0.1/", "k=v; Domain=127.0.0.1", "http://127.0.0.1/", "k=v"),
        ("part of an address", "http://127.0.0.1/", "k=v; Domain=0.0.1", "http://9.0.0.1/", ""),
        ("secure stays so", TLS, "k=v; Secure", WWW, ""),
        ("secure", TLS, "k=v; Secure", TLS, "k=v"),
        ("secure from clear text", WWW, "k=v; Secure", TLS, ""),
        ("secure on this machine", "http://localhost/", "k=v; Secure", "http://localhost/", "k=v"),
        ("from TLS to clear text", TLS, "k=v", WWW, "k=v"),
        ("for a while", WWW, "k=v; Max-Age=1000", WWW, "k=v"),
        ("expired by age", WWW, "k=v; Max-Age=0", WWW, ""),
        ("expired by date", WWW, "k=v; Expires=Sun, 06 Nov 1994 08:49:37 GMT", WWW, ""),
        ("age before date", WWW, "k=v; Max-Age=9; Expires=Sun, 06 Nov 1994 08:49:37 GMT", WWW, "k=v"),
        ("prefix of TLS", TLS, "__Secure-k=v; Secure", TLS, "__Secure-k=v"),
        ("prefix of TLS, not so marked", TLS, "__Secure-k=v", TLS, ""),
        ("prefix of a host", TLS, "__Host-k=v; Secure; Path=/", TLS, "__Host-k=v"),
        ("prefix of a host, with a path", TLS, "__Host-k=v; Secure; Path=/a", TLS, ""),
        ("prefix of a host, for a domain", TLS, "__host-k=v; Secure; Path=/; Domain=example.com", TLS, ""),
        ("quotes stay", WWW, "k=\"a b\"", WWW, "k=\"a b\""),
        ("no name", WWW, "=v", WWW, ""),
        ("no pair", WWW, "v", WWW, ""),
        ("a control character", WWW, "k=a\x01b", WWW, ""),
        ("a tab in the value", WWW, "k=a\tb", WWW, ""),
        ("a tab in the name", WWW, "k\tk=a", WWW, ""),
        ("a tab in the path", WWW, "k=a; Path=/\ta", WWW, ""),
        ("a tab in the domain", WWW, "k=a; Domain=example\t.com", WWW, ""),
        ("tabs around a value", WWW, "\tk\t=\ta\t;\tPath=/\t", WWW, "k=a"),
    ] {
        assert_eq!(told(&[(from, cookie)], to), expected, "{row}");
    }
}

#[test]
fn later_cookies_replace_their_like() {
    const URL: &str = "https://example.com/";
    const CLEAR: &str = "http://example.com/";
    for (row, cookies, expected) in [
        ("replaced", &[(URL, "k=1"), (URL, "k=2")][..], "k=2"),
        ("removed", &[(URL, "k=1"), (URL, "k=2; Max-Age=0")], ""),
        ("removed and set", &[(URL, "k=1"), (URL, "k=; Max-Age=0"), (URL, "k=3")], "k=3"),
        ("emptied", &[(URL, "k=1"), (URL, "k=")], "k="),
        ("not removed by another path", &[(URL, "k=1"), (URL, "k=2; Path=/x; Max-Age=0")], "k=1"),
        (
            "longer paths first",
            &[(URL, "a=1"), (URL, "b=2; Path=/x"), (URL, "c=3; Path=/x/y")],
            "c=3; b=2; a=1",
        ),
        ("both paths", &[(URL, "k=1"), (URL, "k=2; Path=/x")], "k=2; k=1"),
        (
            "not covered from clear text",
            &[(URL, "k=1; Secure"), (CLEAR, "k=2"), (CLEAR, "k=3; Path=/x")],
            "k=1",
        ),
    ] {
        assert_eq!(told(cookies, "https://example.com/x/y/z"), expected, "{row}");
    }
}

/// A clear-text origin could set `session` for its parent domain, and a host below it sent the attacker's
/// beside its own. The rows are those of RFC 6265bis §5.7, with its example of paths.
#[test]
fn secure_cookies_are_left_alone_by_clear_text() {
    const SECURE: &str = "https://www.example.com/";
    for (row, secure, from, cookie, is_kept) in [
        ("the same", "k=1; Secure", "http://www.example.com/", "k=2", false),
        (
            "of the parent, for a host below",
            "k=1; Secure",
            "http://example.com/",
            "k=2; Domain=example.com",
            false,
        ),
        (
            "of a sister, for the parent",
            "k=1; Secure",
            "http://evil.example.com/",
            "k=2; Domain=example.com",
            false,
        ),
        ("of the parent, for itself", "k=1; Secure", "http://example.com/", "k=2", false),
        ("of a host below", "k=1; Secure", "http://a.www.example.com/", "k=2", false),
        ("of a sister, for itself", "k=1; Secure", "http://evil.example.com/", "k=2", true),
        (
            "of a sister, under the domain",
            "k=1; Secure; Domain=example.com",
            "http://evil.example.com/",
            "k=2",
            false,
        ),
        ("half a label", "k=1; Secure", "http://xwww.example.com/", "k=2", true),
        ("removal", "k=1; Secure", "http://www.example.com/", "k=; Max-Age=0", false),
        ("another name", "k=1; Secure", "http://www.example.com/", "K=2", true),
        ("not secure", "k=1", "http://www.example.com/", "k=2", true),
        ("expired", "k=1; Secure; Max-Age=0", "http://www.example.com/", "k=2", true),
        ("over TLS", "k=1; Secure", SECURE, "k=2", true),
        ("path above", "k=1; Secure; Path=/login", "http://www.example.com/", "k=2; Path=/", true),
        ("another path", "k=1; Secure; Path=/login", "http://www.example.com/", "k=2; Path=/foo", true),
        ("half a segment", "k=1; Secure; Path=/login", "http://www.example.com/", "k=2; Path=/loginx", true),
        ("the path", "k=1; Secure; Path=/login", "http://www.example.com/", "k=2; Path=/login", false),
        ("path below", "k=1; Secure; Path=/login", "http://www.example.com/", "k=2; Path=/login/en", false),
        ("path below a slash", "k=1; Secure; Path=/a/", "http://www.example.com/", "k=2; Path=/a/b", false),
    ] {
        let jar = Jar::new();
        jar.add(SECURE, secure).unwrap();
        assert_eq!(jar.add(from, cookie).is_ok(), is_kept, "{row}");
    }
}

#[test]
fn what_the_caller_says_comes_first_and_is_not_repeated() {
    let jar = Jar::new();
    let url = Url::parse("http://example.com/").unwrap();
    for cookie in ["a=1", "b=2", "c=3"] {
        jar.add(url.as_str(), cookie).unwrap();
    }
    let mut fields =
        FieldSection::from_pairs([("cookie", "x=0; b=9"), ("accept", "*/*"), ("cookie", "y")]).unwrap();
    assert_eq!(jar.add_to(&mut fields, &url).unwrap().unwrap(), b"x=0; b=9; y");
    let expected =
        FieldSection::from_pairs([("accept", "*/*"), ("cookie", "x=0; b=9; y; a=1; c=3")]).unwrap();
    assert_eq!(fields, expected);
}

#[test]
fn a_jar_has_bounds() {
    let jar = Jar::new();
    let long = "x".repeat(4095);
    jar.add("http://example.com/", &format!("k={long}")).unwrap();
    assert!(jar.add("http://example.com/", &format!("kk={long}")).is_err());
    jar.clear();
    assert!(jar.is_empty());
    for at in 0..200 {
        let added = jar.add(&format!("http://h{at}.example.com/"), "k=v");
        assert_eq!(added.is_ok(), at < 180, "{at}");
    }
    jar.add("http://example.org/", "k=v").unwrap();
    assert_eq!(format!("{jar:?}"), "Jar { cookies: 181, .. }");
}

/// Forms of dates that servers send, of a time that is past and of one that is to come.
const DATES: [(&str, &str); 22] = [
    ("Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 01 Jan 2050 00:00:00 GMT"),
    ("Thu, 01 Jan 1970 00:00:00 UTC", "Sat, 01 Jan 2050 00:00:00 UTC"),
    ("Thu, 01 Jan 1970 00:00:00 +0000", "Sat, 01 Jan 2050 00:00:00 +0000"),
    ("Thu, 01 Jan 1970 00:00:00", "Sat, 01 Jan 2050 00:00:00"),
    ("Thu, 1 Jan 1970 0:00:00 GMT", "Sat, 1 Jan 2050 0:00:00 GMT"),
    ("Thu, 01-Jan-1970 00:00:00 GMT", "Sat, 01-Jan-2050 00:00:00 GMT"),
    ("Thu, 01-Jan-1970 00:00:00 UTC", "Sat, 01-Jan-2050 00:00:00 UTC"),
    ("Thu, 01-Jan-70 00:00:00 GMT", "Sat, 01-Jan-50 00:00:00 GMT"),
    ("Thursday, 01-Jan-70 00:00:00 GMT", "Saturday, 01-Jan-50 00:00:00 GMT"),
    ("Thursday, 01 Jan 1970 00:00:00 GMT", "Saturday, 01 Jan 2050 00:00:00 GMT"),
    ("Thursday, 01 January 1970 00:00:00 GMT", "Saturday, 01 January 2050 00:00:00 GMT"),
    ("Thu Jan  1 00:00:00 1970", "Sat Jan  1 00:00:00 2050"),
    ("Thu Jan 01 1970 00:00:00 GMT", "Sat Jan 01 2050 00:00:00 GMT"),
    (
        "Thu Jan 01 1970 00:00:00 GMT+0100 (Central European Standard Time)",
        "Sat Jan 01 2050 00:00:00 GMT+0100 (Central European Standard Time)",
    ),
    ("Thu Jan  1 00:00:00 UTC 1970", "Sat Jan  1 00:00:00 UTC 2050"),
    ("01 Jan 1970 00:00:00 GMT", "01 Jan 2050 00:00:00 GMT"),
    ("1970 Jan 1 00:00:00", "2050 Jan 1 00:00:00"),
    ("00:00:00 1 Jan 1970", "00:00:00 1 Jan 2050"),
    ("thu, 01 jan 1970 00:00:00 gmt", "sat, 01 jan 2050 00:00:00 gmt"),
    ("Thu,01 Jan 1970 00:00:00 GMT", "Sat,01 Jan 2050 00:00:00 GMT"),
    ("\"Thu, 01 Jan 1970 00:00:00 GMT\"", "\"Sat, 01 Jan 2050 00:00:00 GMT\""),
    ("Mon, 01 Jan 1601 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
];

#[test]
fn dates_are_read_as_cookies_have_them() {
    const URL: &str = "https://example.com/";
    let mut wrong = Vec::new();
    for (past, future) in DATES {
        let set = |date| format!("k=1; Expires={date}; Path=/");
        if !told(&[(URL, "k=1"), (URL, &set(past))], URL).is_empty() {
            wrong.push(format!("not removed by {past}"));
        }
        let jar = Jar::new();
        jar.add(URL, &set(future)).unwrap();
        if jar.to_netscape().contains("\t0\tk\t1") {
            wrong.push(format!("of the session with {future}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_date_is_kept_to_the_second_and_one_that_is_none_is_passed_over() {
    const URL: &str = "https://example.com/";
    for (attributes, expires) in [
        ("Expires=Fri, 07 Nov 2093 08:49:37 UTC", "3908422177"),
        ("expires = Fri 07-Nov-93 08:49:37; HttpOnly", ""),
        ("Expires=Mon, 29 Feb 2088 1:2:3 UTC", "3728854923"),
        ("Expires=Thu, 29 Feb 2089 00:00:00 UTC", "0"),
        ("Expires=Fri, 07 Nov 2093 24:00:00 UTC", "0"),
        ("Expires=Fri, 07 Nov 2093 08:60:00 UTC", "0"),
        ("Expires=Fri, 07 Nov 2093 08:00", "0"),
        ("Expires=Fri, 32 Nov 2093 08:00:00 UTC", "0"),
        ("Expires=Fri, 00 Nov 2093 08:00:00 UTC", "0"),
        ("Expires=Fri, 07 Nov 93333 08:00:00 UTC", "0"),
        ("Expires=Fri, 31 Dec 1600 08:00:00 UTC", "0"),
        ("Expires=never", "0"),
        ("Expires=", "0"),
        ("Expires", "0"),
        // The last that is a date counts, and an age before all of them (RFC 6265 §5.3).
        ("Expires=never; Expires=Fri, 07 Nov 2093 08:49:37 UTC", "3908422177"),
        ("Expires=Fri, 07 Nov 2093 08:49:37 UTC; Expires=never", "3908422177"),
        ("Expires=Thu, 01 Jan 1970 00:00:00 UTC; Expires=Fri, 07 Nov 2093 08:49:37 UTC", "3908422177"),
        ("Max-Age=0; Expires=Fri, 07 Nov 2093 08:49:37 UTC", ""),
        // Neither is an age (RFC 6265 §5.2.2).
        ("Max-Age=", "0"),
        ("Max-Age=+9", "0"),
    ] {
        let jar = Jar::new();
        jar.add(URL, &format!("k=1; {attributes}")).unwrap();
        let file = jar.to_netscape();
        let kept =
            file.lines().filter(|line| !line.starts_with('#')).find_map(|line| line.split('\t').nth(4));
        assert_eq!(kept.unwrap_or_default(), expires, "{attributes}");
    }
}
