//! RFC 9110 §13 and §14 in tables: each row has its section.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alula_fields::FieldSection;

use super::*;
use Verdict::{Failed, NotModified, Proceed};

/// The states of the resource: with entity-tag and date, with a date alone, with neither, and not there.
const STRONG: &str = "\"a\"";
const WEAK: &str = "W/\"a\"";
const BARE: &str = "bare";
const ABSENT: &str = "absent";

/// A second before, the very second, and a second after the representation was changed.
const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

const MATCH: &str = "if-match";
const NONE_MATCH: &str = "if-none-match";
const MODIFIED: &str = "if-modified-since";
const UNMODIFIED: &str = "if-unmodified-since";
const RANGE: &str = "range";
const IF_RANGE: &str = "if-range";

/// The method, the state, the fields of the request, the verdict, the section of RFC 9110.
type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], Verdict, &'a str);

const VERDICTS: [Row<'_>; 88] = [
    ("GET", STRONG, &[], Proceed, "§13, no condition"),
    ("GET", STRONG, &[(MATCH, "\"a\"")], Proceed, "§13.1.1"),
    ("GET", STRONG, &[(MATCH, "\"b\"")], Failed, "§13.1.1"),
    ("GET", STRONG, &[(MATCH, "\"b\", \"a\"")], Proceed, "§13.1.1, one of a list"),
    ("GET", STRONG, &[(MATCH, "\"b\""), (MATCH, "\"a\"")], Proceed, "§5.3, lines of one list"),
    ("GET", STRONG, &[(MATCH, "*")], Proceed, "§13.1.1, any"),
    ("GET", STRONG, &[(MATCH, "W/\"a\"")], Failed, "§13.1.1, strong comparison"),
    ("GET", WEAK, &[(MATCH, "W/\"a\"")], Failed, "§8.8.3.2, two weak ones"),
    ("GET", WEAK, &[(MATCH, "\"a\"")], Failed, "§8.8.3.2"),
    ("GET", WEAK, &[(MATCH, "*")], Proceed, "§13.1.1"),
    ("GET", STRONG, &[(MATCH, "a")], Failed, "§8.8.3, no entity-tag"),
    ("GET", STRONG, &[(MATCH, "")], Failed, "§13.1.1, an empty list"),
    ("GET", STRONG, &[(MATCH, "\"a\"b")], Proceed, "§8.8.3, a tag before nonsense"),
    ("GET", STRONG, &[(UNMODIFIED, BEFORE)], Failed, "§13.1.4"),
    ("GET", STRONG, &[(UNMODIFIED, SAME)], Proceed, "§13.1.4"),
    ("GET", STRONG, &[(UNMODIFIED, AFTER)], Proceed, "§13.1.4"),
    ("GET", STRONG, &[(UNMODIFIED, "yesterday")], Proceed, "§13.1.4, no date"),
    ("GET", STRONG, &[(UNMODIFIED, BEFORE), (UNMODIFIED, BEFORE)], Proceed, "§13.1.4, more than one"),
    ("GET", STRONG, &[(MATCH, "\"a\""), (UNMODIFIED, BEFORE)], Proceed, "§13.1.4, If-Match goes first"),
    ("GET", STRONG, &[(MATCH, "\"b\""), (UNMODIFIED, AFTER)], Failed, "§13.2.2, step 1"),
    ("GET", STRONG, &[(NONE_MATCH, "\"a\"")], NotModified, "§13.1.2"),
    ("GET", STRONG, &[(NONE_MATCH, "\"b\"")], Proceed, "§13.1.2"),
    ("GET", STRONG, &[(NONE_MATCH, "\"b\",\t\"a\"")], NotModified, "§13.1.2, one of a list"),
    ("GET", STRONG, &[(NONE_MATCH, "\"b\""), (NONE_MATCH, "\"a\"")], NotModified, "§5.3"),
    ("GET", STRONG, &[(NONE_MATCH, "W/\"a\"")], NotModified, "§13.1.2, weak comparison"),
    ("GET", WEAK, &[(NONE_MATCH, "W/\"a\"")], NotModified, "§13.1.2"),
    ("GET", WEAK, &[(NONE_MATCH, "\"a\"")], NotModified, "§13.1.2"),
    ("GET", WEAK, &[(NONE_MATCH, "\"W/\"")], Proceed, "§8.8.3"),
    ("GET", STRONG, &[(NONE_MATCH, "*")], NotModified, "§13.1.2, any"),
    ("GET", STRONG, &[(NONE_MATCH, "\"*\"")], Proceed, "§13.1.2, a tag that is a star"),
    ("GET", STRONG, &[(NONE_MATCH, "w/\"a\"")], Proceed, "§8.8.3, W is case-sensitive"),
    ("GET", STRONG, &[(NONE_MATCH, "W/ \"a\"")], Proceed, "§8.8.3"),
    ("GET", STRONG, &[(NONE_MATCH, "\"a")], Proceed, "§8.8.3, no end"),
    ("GET", STRONG, &[(NONE_MATCH, "\"x,\"a\"")], Proceed, "§8.8.3, a comma within"),
    ("GET", STRONG, &[(NONE_MATCH, "\"x,y\", \"a\"")], NotModified, "§8.8.3, a comma within"),
    ("GET", STRONG, &[(NONE_MATCH, "\"x y\", \"a\"")], Proceed, "§8.8.3, no white space within"),
    ("GET", STRONG, &[(NONE_MATCH, "\"\\\", \"a\"")], NotModified, "§8.8.3, a backslash is itself"),
    ("GET", STRONG, &[(MODIFIED, BEFORE)], Proceed, "§13.1.3"),
    ("GET", STRONG, &[(MODIFIED, SAME)], NotModified, "§13.1.3"),
    ("GET", STRONG, &[(MODIFIED, AFTER)], NotModified, "§13.1.3"),
    ("GET", STRONG, &[(MODIFIED, "Sunday, 06-Nov-94 08:49:37 GMT")], NotModified, "§5.6.7, RFC 850"),
    ("GET", STRONG, &[(MODIFIED, "Sun Nov  6 08:49:37 1994")], NotModified, "§5.6.7, asctime"),
    ("GET", STRONG, &[(MODIFIED, "784111777")], Proceed, "§13.1.3, no date"),
    ("GET", STRONG, &[(MODIFIED, AFTER), (MODIFIED, AFTER)], Proceed, "§13.1.3, more than one"),
    (
        "GET",
        STRONG,
        &[(NONE_MATCH, "\"b\""), (MODIFIED, AFTER)],
        Proceed,
        "§13.1.3, If-None-Match goes first",
    ),
    ("GET", STRONG, &[(NONE_MATCH, "\"a\""), (MODIFIED, BEFORE)], NotModified, "§13.1.3"),
    ("GET", STRONG, &[(MATCH, "\"b\""), (NONE_MATCH, "\"a\"")], Failed, "§13.2.2, step 1 before 3"),
    ("GET", STRONG, &[(MATCH, "\"a\""), (NONE_MATCH, "\"a\"")], NotModified, "§13.2.2, step 1, then 3"),
    ("GET", STRONG, &[(UNMODIFIED, BEFORE), (NONE_MATCH, "\"a\"")], Failed, "§13.2.2, step 2 before 3"),
    ("GET", STRONG, &[(UNMODIFIED, AFTER), (MODIFIED, SAME)], NotModified, "§13.2.2, step 2, then 4"),
    ("HEAD", STRONG, &[(NONE_MATCH, "\"a\"")], NotModified, "§13.1.2, HEAD as GET"),
    ("HEAD", STRONG, &[(MODIFIED, SAME)], NotModified, "§13.1.3, HEAD as GET"),
    ("HEAD", STRONG, &[(MATCH, "\"b\"")], Failed, "§13.1.1"),
    ("PUT", STRONG, &[(NONE_MATCH, "*")], Failed, "§13.1.2, creates and replaces nothing"),
    ("PUT", ABSENT, &[(NONE_MATCH, "*")], Proceed, "§13.1.2, nothing is there"),
    ("PUT", STRONG, &[(NONE_MATCH, "\"a\"")], Failed, "§13.2.2, step 3, not GET"),
    ("PUT", STRONG, &[(NONE_MATCH, "\"b\"")], Proceed, "§13.1.2"),
    ("PUT", WEAK, &[(NONE_MATCH, "\"a\"")], Failed, "§13.1.2, weak comparison"),
    ("PUT", STRONG, &[(MATCH, "\"a\"")], Proceed, "§13.1.1, no lost update"),
    ("PUT", STRONG, &[(MATCH, "\"b\"")], Failed, "§13.1.1, a lost update"),
    ("PUT", STRONG, &[(MATCH, "*")], Proceed, "§13.1.1"),
    ("PUT", ABSENT, &[(MATCH, "*")], Failed, "§13.1.1, nothing is there"),
    ("PUT", ABSENT, &[(MATCH, "\"a\"")], Failed, "§13.1.1, nothing is there"),
    ("PUT", ABSENT, &[(NONE_MATCH, "\"a\"")], Proceed, "§13.1.2"),
    ("PUT", STRONG, &[(MODIFIED, AFTER)], Proceed, "§13.1.3, for GET and HEAD alone"),
    ("PUT", STRONG, &[(UNMODIFIED, BEFORE)], Failed, "§13.1.4"),
    ("PUT", STRONG, &[(UNMODIFIED, SAME)], Proceed, "§13.1.4"),
    ("PUT", ABSENT, &[(UNMODIFIED, BEFORE)], Proceed, "§13.1.4, no date of change"),
    ("PUT", STRONG, &[(MATCH, "\"a\""), (NONE_MATCH, "*")], Failed, "§13.2.2, step 1, then 3"),
    ("DELETE", STRONG, &[(MATCH, "\"a\"")], Proceed, "§13.1.1"),
    ("DELETE", STRONG, &[(MATCH, "\"b\", \"c\"")], Failed, "§13.1.1"),
    ("DELETE", WEAK, &[(MATCH, "W/\"a\"")], Failed, "§8.8.3.2"),
    ("DELETE", ABSENT, &[(MATCH, "*")], Failed, "§13.1.1"),
    ("POST", STRONG, &[(MATCH, "\"b\"")], Failed, "§13.1.1, any method that changes"),
    ("PURGE", STRONG, &[(MATCH, "\"b\"")], Failed, "§13.2.1, unknown methods too"),
    ("OPTIONS", STRONG, &[(MATCH, "\"b\"")], Proceed, "§13.2.1"),
    ("TRACE", STRONG, &[(NONE_MATCH, "*")], Proceed, "§13.2.1"),
    ("CONNECT", STRONG, &[(UNMODIFIED, BEFORE)], Proceed, "§13.2.1"),
    ("get", STRONG, &[(NONE_MATCH, "*")], Failed, "§9.1, methods are case-sensitive"),
    ("GET", ABSENT, &[(NONE_MATCH, "*")], Proceed, "§13.1.2"),
    ("GET", ABSENT, &[(MODIFIED, AFTER)], Proceed, "§13.1.3, no date of change"),
    ("GET", BARE, &[(MATCH, "*")], Proceed, "§13.1.1, without validators"),
    ("GET", BARE, &[(MATCH, "\"a\"")], Failed, "§13.1.1, without validators"),
    ("GET", BARE, &[(NONE_MATCH, "*")], NotModified, "§13.1.2, without validators"),
    ("GET", BARE, &[(NONE_MATCH, "\"a\"")], Proceed, "§13.1.2, without validators"),
    ("GET", BARE, &[(MODIFIED, AFTER)], Proceed, "§13.1.3, without validators"),
    ("GET", BARE, &[(UNMODIFIED, BEFORE)], Proceed, "§13.1.4, without validators"),
    ("GET", STRONG, &[(NONE_MATCH, "*, \"b\"")], Proceed, "§13.1.2, a star stands alone"),
];

fn state(name: &str) -> Validators<'_> {
    match name {
        ABSENT => Validators::absent(),
        BARE => Validators::present(),
        etag => Validators::present().etag(etag).modified(changed()).strong_date(true),
    }
}

/// Returns a time between two seconds: validators count whole ones.
fn changed() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(784_111_777_400)
}

fn section(fields: &[(&str, &str)]) -> FieldSection {
    FieldSection::from_pairs(fields.iter().copied()).unwrap()
}

#[test]
fn conditions_have_their_order() {
    for (method, name, fields, expected, rule) in VERDICTS {
        let verdict = evaluate(method, &section(fields), &state(name));
        assert_eq!(verdict, expected, "{method} of {name} with {fields:?} (RFC 9110 {rule})");
    }
}

#[test]
fn selections_put_conditions_before_ranges() {
    let first = (RANGE, "bytes=0-0");
    let rows: [Row2<'_>; 25] = [
        ("GET", STRONG, &[], Selection::Whole, "§15.3.1"),
        ("GET", STRONG, &[first], Selection::Part(0..1), "§14.2"),
        ("HEAD", STRONG, &[first], Selection::Whole, "§14.2, for GET alone"),
        ("PUT", STRONG, &[first], Selection::Whole, "§14.2"),
        ("GET", STRONG, &[first, first], Selection::Whole, "§14.2, several fields are as none"),
        ("GET", STRONG, &[(RANGE, "bytes=10-")], Selection::RangeNotSatisfiable, "§15.5.17"),
        ("HEAD", STRONG, &[(RANGE, "bytes=10-")], Selection::Whole, "§14.2"),
        ("GET", STRONG, &[(RANGE, "bytes=0-0,9-9")], Selection::Parts(vec![0..1, 9..10]), "§15.3.7.2"),
        ("GET", STRONG, &[first, (IF_RANGE, "\"a\"")], Selection::Part(0..1), "§13.1.5"),
        ("GET", STRONG, &[first, (IF_RANGE, "\"b\"")], Selection::Whole, "§13.1.5"),
        ("GET", STRONG, &[first, (IF_RANGE, "W/\"a\"")], Selection::Whole, "§13.1.5, strong comparison"),
        ("GET", STRONG, &[first, (IF_RANGE, "*")], Selection::Whole, "§13.1.5, no entity-tag"),
        ("GET", STRONG, &[first, (IF_RANGE, "\"a\", \"b\"")], Selection::Whole, "§13.1.5, one only"),
        ("GET", STRONG, &[first, (IF_RANGE, "\"a\""), (IF_RANGE, "\"a\"")], Selection::Whole, "§13.1.5"),
        ("GET", STRONG, &[first, (IF_RANGE, "a")], Selection::Whole, "§13.1.5"),
        ("GET", STRONG, &[first, (IF_RANGE, "")], Selection::Whole, "§13.1.5"),
        ("GET", WEAK, &[first, (IF_RANGE, "W/\"a\"")], Selection::Whole, "§13.1.5, two weak ones"),
        ("GET", WEAK, &[first, (IF_RANGE, "\"a\"")], Selection::Whole, "§13.1.5"),
        ("GET", STRONG, &[first, (IF_RANGE, SAME)], Selection::Part(0..1), "§13.1.5, the very date"),
        ("GET", STRONG, &[first, (IF_RANGE, BEFORE)], Selection::Whole, "§13.1.5, an earlier date"),
        ("GET", STRONG, &[first, (IF_RANGE, AFTER)], Selection::Whole, "§13.1.5, a later date"),
        ("GET", BARE, &[first, (IF_RANGE, "\"a\"")], Selection::Whole, "§13.1.5, no validator"),
        ("GET", STRONG, &[first, (MATCH, "\"b\"")], Selection::PreconditionFailed, "§13.2.2, step 1"),
        ("GET", STRONG, &[first, (NONE_MATCH, "\"a\"")], Selection::NotModified, "§13.2.2, step 3"),
        ("GET", STRONG, &[(RANGE, "bytes=10-"), (IF_RANGE, "\"b\"")], Selection::Whole, "§13.1.5, no 416"),
    ];
    for (method, name, fields, expected, rule) in rows {
        let selection = select(method, &section(fields), &state(name), 10);
        assert_eq!(selection, expected, "{method} of {name} with {fields:?} (RFC 9110 {rule})");
    }
}

/// A [`Row`] that expects a selection.
type Row2<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], Selection, &'a str);

#[test]
fn a_date_that_may_hide_a_change_names_no_state() {
    let weak = state(STRONG).strong_date(false);
    let fields = section(&[(RANGE, "bytes=0-0"), (IF_RANGE, SAME)]);
    assert_eq!(select("GET", &fields, &weak, 10), Selection::Whole, "RFC 9110 §8.8.2.2");
}

#[test]
fn a_change_from_before_1970_has_no_date() {
    let old = Validators::present().modified(UNIX_EPOCH - Duration::from_secs(1));
    let fields = section(&[(UNMODIFIED, "Thu, 01 Jan 1970 00:00:00 GMT")]);
    assert_eq!(evaluate("PUT", &fields, &old), Proceed);
}
