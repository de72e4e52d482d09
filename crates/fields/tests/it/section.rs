//! What a field section promises, one promise per test.

use alula_fields::{FieldErrorKind, FieldFlags, FieldName, FieldSection, KnownName, SECTION_KEPT_BYTES_MAX};

fn section(pairs: &[(&str, &str)]) -> FieldSection {
    FieldSection::from_pairs(pairs.iter().copied()).unwrap()
}

fn pairs(section: &FieldSection) -> Vec<(String, &str)> {
    section.iter().map(|field| (field.name().to_string(), field.text().unwrap())).collect()
}

#[test]
fn order_of_arrival_is_kept_and_names_are_folded() {
    let section = section(&[("X-B", "1"), ("Accept", "2"), ("x-a", "3"), ("ACCEPT", "4"), ("x-b", "")]);
    let expected = [("x-b", "1"), ("accept", "2"), ("x-a", "3"), ("accept", "4"), ("x-b", "")];
    assert!(section.iter().map(|field| (field.name().as_str(), field.text().unwrap())).eq(expected));
    assert_eq!(section.get_all("Accept").collect::<Vec<_>>(), [b"2", b"4"]);
    assert_eq!(section.get(KnownName::ACCEPT), Some(&b"2"[..]));
    assert_eq!((section.get("x-B"), section.get("x-c"), section.get("x b")), (Some(&b"1"[..]), None, None));
    assert!(section.contains(FieldName::Other("X-A")) && !section.contains(KnownName::AGE));
    assert_eq!(section.iter().next_back().unwrap().name(), FieldName::Other("x-b"));
    assert_eq!(section.at(1).unwrap().known(), Some(KnownName::ACCEPT));
    assert!(section.at(5).is_none());
}

#[test]
fn results_outlive_the_name_they_were_asked_by() {
    let section = section(&[("x-a", "1")]);
    let (first, mut all) = {
        let name = String::from("X-A");
        (section.get(name.as_str()), section.get_all(name.as_str()).collect::<Vec<_>>())
    };
    all.push(b"end");
    assert_eq!((first, all), (Some(&b"1"[..]), vec![&b"1"[..], b"end"]));
}

#[test]
fn sizes_are_those_of_rfc_9113() {
    let mut section = section(&[("accept", "*/*"), ("x-a", "")]);
    assert_eq!((section.list_size(), section.bytes()), (6 + 3 + 32 + 3 + 32, 6 + 3 + 3));
    section.append_spelled("X-Long-Name", "1").unwrap();
    assert_eq!(section.bytes(), 12 + 12);
    section.remove("accept");
    assert_eq!((section.list_size(), section.len()), (3 + 32 + 12 + 32, 2));
    section.clear();
    assert_eq!((section.list_size(), section.bytes(), section.len(), section.is_empty()), (0, 0, 0, true));
}

#[test]
fn refusals_change_nothing_and_quote_the_name() {
    let mut changed = section(&[("accept", "*/*"), ("x-a", "1")]);
    let before = changed.clone();
    let long = "ä".repeat(100);
    for (name, value, kind, message) in [
        ("", "", FieldErrorKind::EmptyName, "a field name is empty (RFC 9110 §5.1)"),
        (
            ":path",
            "/",
            FieldErrorKind::PseudoName,
            r#"":path" is a pseudo-field, not a field (RFC 9113 §8.3)"#,
        ),
        (":odd", "", FieldErrorKind::PseudoName, r#"":odd" is a pseudo-field, not a field (RFC 9113 §8.3)"#),
        (
            "X-A\r\nb",
            "",
            FieldErrorKind::Name,
            r#"field name "X-A\r\nb" has byte 0x0d at 3, which no token has (RFC 9110 §5.6.2)"#,
        ),
        (
            "x-A",
            "se\ncret",
            FieldErrorKind::Value,
            r#"value of field "x-A" has byte 0x0a at 2, which no field value has (RFC 9110 §5.5)"#,
        ),
        (
            "Accept",
            "\0",
            FieldErrorKind::Value,
            r#"value of field "accept" has byte 0x00 at 0, which no field value has (RFC 9110 §5.5)"#,
        ),
    ] {
        for result in [
            changed.append(name, value),
            changed.append_sensitive(name, value),
            changed.append_spelled(name, value),
            changed.set(name, value),
        ] {
            let error = result.unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
            assert!(!error.to_string().contains("cret"), "values may be secret");
        }
        assert_eq!((changed == before, changed.list_size()), (true, before.list_size()));
    }
    let error = changed.append(&*long, "").unwrap_err();
    assert_eq!((error.quoted().len(), error.position()), (40, Some(0)));
    assert!(error.to_string().contains("\\xc3\\xa4…\" has byte 0xc3 at 0"), "{error}");
    assert!(changed.append(KnownName::PSEUDO_METHOD, "GET").is_err());
}

#[test]
fn values_may_have_everything_but_controls() {
    let mut section = FieldSection::new();
    for byte in 0..=255_u8 {
        let refused = byte < 0x20 && byte != b'\t' || byte == 0x7f;
        assert_eq!(section.append("x", [b'a', byte]).is_err(), refused, "{byte:#x}");
    }
    assert_eq!(section.len(), 256 - 32);
    assert_eq!(section.iter().next_back().unwrap().text(), None);
}

#[test]
fn set_replaces_all_and_remove_says_how_many() {
    let mut section = section(&[("x-a", "1"), ("accept", "2"), ("X-A", "3"), ("x-b", "4"), ("Accept", "5")]);
    section.set("X-a", "new").unwrap();
    let expected = [("accept", "2"), ("x-b", "4"), ("accept", "5"), ("x-a", "new")];
    assert!(section.iter().map(|field| (field.name().as_str(), field.text().unwrap())).eq(expected));
    assert_eq!((section.remove("ACCEPT"), section.remove("accept"), section.remove("no token")), (2, 0, 0));
    assert_eq!(pairs(&section), [("x-b".to_owned(), "4"), ("x-a".to_owned(), "new")]);
    assert_eq!(section.retain(|field| field.value() == b"new"), 1);
    assert_eq!(section.get("x-a"), Some(&b"new"[..]));
}

#[test]
fn merging_replaces_per_name() {
    let mut own = section(&[("accept", "1"), ("x-a", "2"), ("accept", "3"), ("x-b", "4")]);
    own.merge(&section(&[("x-c", "5"), ("Accept", "6"), ("accept", "7")]));
    let expected = [("x-a", "2"), ("x-b", "4"), ("x-c", "5"), ("accept", "6"), ("accept", "7")];
    assert_eq!(own, section(&expected));
    own.extend_from(&section(&[("x-a", "8")]));
    assert_eq!(own.get_all("x-a").collect::<Vec<_>>(), [b"2", b"8"]);
    assert_eq!(own.len(), 6);
}

#[test]
fn equality_is_ordered_and_of_names_and_values_alone() {
    let one = section(&[("x-a", "1"), ("accept", "2")]);
    assert_ne!(one, section(&[("accept", "2"), ("x-a", "1")]));
    assert_ne!(one, section(&[("x-a", "1")]));
    assert_ne!(section(&[("x-ab", "1")]), section(&[("x-a", "b1")]));
    let mut other = FieldSection::new();
    other.append_spelled("X-A", "1").unwrap();
    other.append_sensitive("Accept", "2").unwrap();
    assert_eq!(one, other);
}

#[test]
fn spelling_is_kept_when_asked_for() {
    let mut section = section(&[("X_other", "1"), ("etag", "2"), ("x-odd-name", "3")]);
    section.append_spelled("eTag", "4").unwrap();
    section.append_spelled("X_kEy", "5").unwrap();
    section.remove("x_other");
    let mut line = [0; 32];
    let mut spelled = Vec::new();
    for field in &section {
        let len = field.write_spelling(&mut line).unwrap();
        assert_eq!(field.write_spelling(&mut line[..len - 1]), None);
        field.write_spelling(&mut line).unwrap();
        spelled.push(String::from_utf8(line[..len].to_vec()).unwrap());
    }
    assert_eq!(spelled, ["ETag", "X-Odd-Name", "eTag", "X_kEy"]);
    assert_eq!(section.at(0).unwrap().spelling(), None);
    assert_eq!(section.at(2).unwrap().spelling(), Some("eTag"));
}

#[test]
fn loose_lookup_takes_dash_and_underscore_for_the_same() {
    let section = section(&[("Content-Type", "1"), ("x_a", "2"), ("x-a", "3")]);
    for name in ["content_type", "CONTENT-TYPE", "Content_Type"] {
        assert_eq!(section.get_loose(name), Some(&b"1"[..]));
    }
    assert_eq!((section.get_loose("X-A"), section.get_loose("contenttype")), (Some(&b"2"[..]), None));
    assert_eq!((section.get("x-a"), section.get("x_a")), (Some(&b"3"[..]), Some(&b"2"[..])));
}

#[test]
fn debug_hides_what_is_secret() {
    let mut shown =
        section(&[("accept", "a\"b"), ("authorization", "s1"), ("cookie", "s2"), ("set-cookie", "s3")]);
    shown.append("Proxy-Authorization", "s4").unwrap();
    shown.append_sensitive("x-key", "s5").unwrap();
    shown.append("x-raw", b"\xff\t").unwrap();
    let text = format!("{shown:?}");
    assert_eq!(
        text,
        r#"[accept: "a\"b", authorization: "…", cookie: "…", set-cookie: "…", "#.to_owned()
            + r#"proxy-authorization: "…", x-key: "…", x-raw: "\xff\t"]"#
    );
    assert_eq!(format!("{:?}", shown.iter()), text);
    let cookie = shown.iter().find(|field| field.known() == Some(KnownName::COOKIE)).unwrap();
    assert!(cookie.is_hidden() && !cookie.is_sensitive(), "sensitive is what was marked, and HPACK's affair");
}

#[test]
fn decoders_push_what_they_have_checked() {
    let mut pushed = FieldSection::with_capacity(2, 16);
    pushed.push_known(KnownName::CONTENT_TYPE, b"text/html", FieldFlags::NONE);
    pushed.push_valid(b"x-a", b"1", FieldFlags::SENSITIVE);
    assert_eq!(pushed, section(&[("content-type", "text/html"), ("x-a", "1")]));
    assert!(pushed.at(1).unwrap().is_sensitive() && !pushed.at(0).unwrap().is_sensitive());
    assert_eq!(pushed.list_size(), 12 + 9 + 32 + 3 + 1 + 32);
}

#[test]
fn clear_and_truncate_keep_memory_and_trim_gives_it_back() {
    let mut section = FieldSection::new();
    (0..200).for_each(|index| section.append("x-filler", format!("{index:040}")).unwrap());
    let held = section.capacity_bytes();
    assert!(held > SECTION_KEPT_BYTES_MAX);
    section.truncate(201);
    assert_eq!(section.len(), 200);
    section.truncate(3);
    assert_eq!((section.len(), section.list_size()), (3, 3 * (8 + 40 + 32)));
    section.clear();
    assert_eq!(section.capacity_bytes(), held);
    section.trim(SECTION_KEPT_BYTES_MAX);
    assert!((1..=SECTION_KEPT_BYTES_MAX).contains(&section.capacity_bytes()));
    let kept = section.capacity_bytes();
    section.trim(SECTION_KEPT_BYTES_MAX);
    assert_eq!(section.capacity_bytes(), kept);
}
