//! What allocates nothing once it is warm, counted in a binary of its own.

use std::hint::black_box;

use alula_fields::{Authority, FieldFlags, FieldSection, Head, KnownName, Method, Scheme, Status, Target};
use alula_testkit::{Tally, allocations};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const FIELDS: [(&str, &str); 10] = [
    ("Content-Type", "text/html; charset=utf-8"),
    ("Cache-Control", "max-age=0"),
    ("X-Request-Id", "0123456789abcdef"),
    ("X-Odd-Name", "one"),
    ("x-other-odd-name", "two"),
    ("Set-Cookie", "session=abcdefghijklmnop"),
    ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("ETag", "\"123\""),
    ("vary", "accept-encoding"),
    ("Server", "alula"),
];

fn fill(section: &mut FieldSection) {
    section.clear();
    FIELDS.iter().for_each(|(name, value)| section.append(*name, value).unwrap());
    section.append_spelled("X_kEy", "1").unwrap();
    section.set("Server", "other").unwrap();
    section.remove("X-Odd-Name");
    section.push_known(KnownName::ALLOW, b"GET", FieldFlags::NONE);
    section.push_valid(b"x-pushed", b"1", FieldFlags::SENSITIVE);
}

#[test]
fn a_warm_section_is_cleared_and_filled_again() {
    let mut section = FieldSection::new();
    assert!(allocations(|| fill(&mut section)) > 0, "a cold one has to allocate, so counting works");
    assert_eq!(allocations(|| (0..100).for_each(|_| fill(&mut section))), 0);
    assert_eq!(section.len(), 12);
}

#[test]
fn reading_writing_names_and_refusing() {
    let mut section = FieldSection::new();
    fill(&mut section);
    let mut line = [0; 64];
    let count = allocations(|| {
        black_box((
            section.get("x-OTHER-odd-name"),
            section.get(KnownName::ETAG),
            section.get_loose("set_cookie"),
        ));
        black_box((
            section.get_all("Vary").count(),
            section.contains("nothing"),
            section == FieldSection::new(),
        ));
        let bytes: usize = section.iter().map(|field| field.write_spelling(&mut line).unwrap()).sum();
        assert!(bytes > 50);
        black_box((section.append("b d", ""), section.append("x", "\n")).0.is_err());
        section.trim(alula_fields::SECTION_KEPT_BYTES_MAX);
    });
    assert_eq!(count, 0);
}

#[test]
fn a_section_merges_into_a_warm_one() {
    let (mut section, mut other) = (FieldSection::new(), FieldSection::new());
    fill(&mut other);
    fill(&mut section);
    section.merge(&other);
    section.extend_from(&other);
    let count = allocations(|| {
        fill(&mut section);
        section.merge(&other);
        section.extend_from(&other);
    });
    assert_eq!(count, 0);
}

#[test]
fn a_warm_head_is_used_again() {
    fn fill_head(head: &mut Head) {
        head.clear();
        head.set_method("GET").unwrap();
        head.set_scheme("https").unwrap();
        head.set_authority("example.com:8443").unwrap();
        head.set_path("/a/path?with=query").unwrap();
        head.set_path("/b").unwrap();
        head.put_pseudo(KnownName::PSEUDO_PROTOCOL, b"websocket");
        head.set_status(Status::OK);
        fill(&mut head.fields);
        head.trim(alula_fields::SECTION_KEPT_BYTES_MAX);
    }
    let (mut head, mut other) = (Head::new(), Head::new());
    fill_head(&mut head);
    fill_head(&mut other);
    let count = allocations(|| {
        for _ in 0..10 {
            fill_head(&mut head);
            std::mem::swap(&mut head, &mut other);
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn control_data_is_checked_without_copies() {
    let count = allocations(|| {
        black_box(Method::parse_folded("delete").unwrap());
        black_box(Target::parse(Method::Get, "https://example.com:443/a?b").unwrap());
        let authority = Authority::parse("example.com:443").unwrap();
        black_box((authority.normal(Scheme::Https), authority.is_same(authority, Scheme::Http)));
        black_box((Status::parse(b"200").unwrap(), Authority::parse("a b").is_err()));
    });
    assert_eq!(count, 0);
}
