//! Storing what was decoded, and remembering it.

use alula_fields::{FieldSection, Head, KnownName};
use alula_hpack::{
    Collect, Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Indexing, ListLimits, Memo,
    Policy, Refusal,
};
use alula_machine::{Limits, OutBuf};

const WIDE: ListLimits = ListLimits { bytes: 16_384, fields: 100 };

fn block(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut out = OutBuf::new();
    let fields = pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()));
    Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() })
        .encode(fields, &mut out);
    out.unsent().to_vec()
}

fn collect(pairs: &[(&str, &str)], limits: ListLimits) -> (Result<(), Refusal>, Head, usize) {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut head = Head::new();
    let mut collect = Collect::head(&mut head, limits);
    decoder.decode(&block(pairs), true, &mut collect).unwrap();
    (collect.finish(), head, decoder.table().len())
}

#[test]
fn a_head_gets_control_data_and_fields() {
    let pairs = [
        (":method", "GET"),
        (":path", "/a"),
        ("accept", "*/*"),
        ("x-a", "1"),
        ("cookie", "a=b; c=defghijklmnopq"),
    ];
    let (result, head, _) = collect(&pairs, WIDE);
    assert_eq!(result, Ok(()));
    assert_eq!((head.method(), head.path()), (Some("GET"), Some("/a")));
    let fields: Vec<_> = head.fields.iter().map(|field| (field.name_bytes(), field.value())).collect();
    let expected: Vec<_> =
        pairs[2..].iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    assert_eq!(fields, expected);
}

#[test]
fn a_field_that_came_as_never_indexed_stays_sensitive() {
    let mut out = OutBuf::new();
    let secret = Field::new(b"x-key", b"1").with(Indexing::Never);
    Encoder::new(EncoderConfig::default()).encode([secret, Field::new(b"x-a", b"1")], &mut out);
    let mut section = FieldSection::new();
    let mut collect = Collect::section(&mut section, WIDE);
    Decoder::new(DecoderLimits::default()).decode(out.unsent(), true, &mut collect).unwrap();
    assert_eq!(collect.finish(), Ok(()));
    assert_eq!(section.iter().map(|field| field.is_sensitive()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn limits_are_exact_and_the_table_stays_right_beyond_them() {
    let pairs = [("x-a", "1"), ("x-b", "22"), ("x-c", "333")];
    let bytes = 3 * (3 + 32) + 1 + 2 + 3;
    for (limits, expected, stored) in [
        (ListLimits { bytes, fields: 3 }, Ok(()), 3),
        (ListLimits { bytes: bytes - 1, fields: 3 }, Err(Refusal::Bytes), 2),
        (ListLimits { bytes, fields: 2 }, Err(Refusal::Fields), 2),
        (ListLimits { bytes: 0, fields: 0 }, Err(Refusal::Bytes), 0),
    ] {
        let (result, head, entries) = collect(&pairs, limits);
        assert_eq!((result, head.fields.len(), entries), (expected, stored, 3));
        assert!(result.is_ok() || expected.unwrap_err().is_limit());
    }
    let limits = ListLimits::from(&Limits::default());
    assert_eq!(limits, ListLimits { bytes: 16_384, fields: 100 });
}

#[test]
fn what_is_malformed_is_told_from_what_is_too_large() {
    for (pairs, refusal) in [
        (&[("x-a", "1"), ("X-A", "1")][..], Refusal::Name),
        (&[("", "1")], Refusal::Name),
        (&[("x a", "1")], Refusal::Name),
        (&[(":Path", "/")], Refusal::Name),
        (&[("x-a", "1\n")], Refusal::Value),
        (&[("x-a", " 1")], Refusal::Value),
        (&[(":path", "/\u{e9}")], Refusal::Value),
        (&[(":nothing", "1")], Refusal::Pseudo),
        (&[(":path", "/"), (":path", "/")], Refusal::Pseudo),
        (&[("x-a", "1"), (":path", "/")], Refusal::Pseudo),
    ] {
        let (result, _, entries) = collect(pairs, WIDE);
        assert_eq!(result, Err(refusal), "{pairs:?}");
        assert!(!refusal.is_limit() && entries + 2 >= pairs.len());
    }
    let mut section = FieldSection::new();
    let mut trailers = Collect::section(&mut section, WIDE);
    Decoder::new(DecoderLimits::default()).decode(&block(&[(":path", "/")]), true, &mut trailers).unwrap();
    assert_eq!(trailers.finish(), Err(Refusal::Pseudo));
}

fn ignore(_: Decoded<'_>) {}

#[test]
fn a_memo_answers_as_long_as_the_table_is_the_same() {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut memo = Memo::<usize>::new();
    decoder.decode(b"\x40\x01a\x01b", true, &mut ignore).unwrap();
    let remember = |memo: &mut Memo<usize>, decoder: &mut Decoder, block: &[u8], what| {
        decoder.decode(block, true, &mut ignore).unwrap();
        memo.put(decoder, block, |kept| *kept = what);
    };
    remember(&mut memo, &mut decoder, b"\x82\xbe", 1);
    assert_eq!((memo.get(&decoder, b"\x82\xbe"), memo.memory_bytes()), (None, 0), "it came once");
    remember(&mut memo, &mut decoder, b"\x82\xbe", 1);
    remember(&mut memo, &mut decoder, b"\x83\xbe", 2);
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), Some(&1));
    assert_eq!(memo.get(&decoder, b"\x83\xbe"), Some(&2));
    assert_eq!(memo.get(&decoder, b"\x82"), None);
    assert_eq!(memo.get(&decoder, b"\x82\xbe\x84"), None);
    assert_eq!(memo.get(&decoder, b""), None);
    // Literals without an entry, and updates to the same size, change nothing.
    decoder.decode(b"\x3f\xe1\x1f\x00\x01a\x01b", true, &mut ignore).unwrap();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), Some(&1));
    // In the middle of a block, and with a debt, nothing is answered.
    decoder.decode(b"\x82", false, &mut ignore).unwrap();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), None);
    decoder.decode(b"", true, &mut ignore).unwrap();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), Some(&1));
    decoder.set_table_limit(1000);
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), None);
    decoder.decode(b"\x3f\xc9\x07", true, &mut ignore).unwrap();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), None, "the size has changed");
    remember(&mut memo, &mut decoder, b"\x82\xbe", 3);
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), Some(&3));
    decoder.decode(b"\x40\x01c\x01d", true, &mut ignore).unwrap();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), None, "an entry has come");
    decoder.reset();
    assert_eq!(memo.get(&decoder, b"\x82\xbe"), None);
}

#[test]
fn a_memo_keeps_only_what_cannot_change_the_table() {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut memo = Memo::<usize>::new();
    let long = [0x82; 33];
    for block in [&b"\x00\x01a\x01b"[..], b"\x3f\xe1\x1f\x82", b"", &long] {
        decoder.decode(block, true, &mut ignore).unwrap();
        memo.put(&decoder, block, |_| panic!("kept {block:?}"));
        assert_eq!(memo.get(&decoder, block), None);
    }
    assert_eq!(
        decoder.decode(b"\xbe", true, &mut ignore).unwrap_err().rule(),
        "an index beyond both tables (RFC 7541 §2.3.3)"
    );
    memo.put(&decoder, b"\xbe", |_| panic!("kept a block that is wrong"));
    let rows: usize = memo.kept_mut().map(|kept| *kept).sum();
    assert_eq!(rows, 0);
    memo.clear();
}

#[test]
fn what_memory_is_held_can_be_given_back() {
    let mut decoder = Decoder::new(DecoderLimits::default());
    let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
    assert_eq!((decoder.memory_bytes(), encoder.memory_bytes()), (0, 0));
    let mut out = OutBuf::new();
    for value in 0..200 {
        out.clear();
        encoder.encode([Field::known(KnownName::DATE, value.to_string().as_bytes())], &mut out);
        decoder.decode(out.unsent(), true, &mut ignore).unwrap();
    }
    let full = (decoder.memory_bytes(), encoder.memory_bytes());
    // Entries of a few bytes are the worst: as many slots as there can be.
    assert!(full.0 <= 4 * 4096 && full.1 <= 5 * 4096, "{full:?}");
    encoder.reset();
    decoder.reset();
    assert_eq!((decoder.memory_bytes(), encoder.memory_bytes()), full);
    encoder.trim();
    decoder.trim();
    assert_eq!((decoder.memory_bytes(), encoder.memory_bytes()), (0, 0));
}

#[test]
fn the_codecs_are_small_themselves() {
    assert!(size_of::<Decoder>() <= 256, "{}", size_of::<Decoder>());
    assert!(size_of::<Encoder>() <= 5120, "{}", size_of::<Encoder>());
    assert_eq!(size_of::<Field<'_>>(), 40);
    assert_eq!(size_of::<Decoded<'_>>(), 40);
}
