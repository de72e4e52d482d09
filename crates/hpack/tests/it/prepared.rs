//! Prepared blocks: what they say never depends on what the table went through in between.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Part, Policy,
    PrepareError, PreparedBlock,
};
use alula_machine::OutBuf;

#[test]
fn a_prepared_field_becomes_an_entry_at_once_and_a_secret_never() {
    let parts = [
        Part::Field(Field::new(b"x-a", b"1")),
        Part::Field(Field::new(b"cookie", b"short")),
        Part::Hole { name: b"authorization", indexing: Indexing::Auto },
    ];
    let prepared = PreparedBlock::new(parts).unwrap();
    assert_eq!((prepared.holes(), prepared.list_size()), (1, 3 + 1 + 6 + 5 + 13 + 3 * 32));
    let mut encoder = Encoder::new(EncoderConfig { huffman: Huffman::Never, ..EncoderConfig::default() });
    let mut blocks = (0..3).map(|_| {
        let mut out = OutBuf::new();
        encoder.emit(&prepared, &[b"key"], &mut out);
        out.unsent().to_vec()
    });
    let rest = b"\x1f\x11\x05short\x1f\x08\x03key";
    assert_eq!(
        blocks.next().unwrap(),
        [&b"\x40\x03x-a\x011"[..], b"\x1f\x11\x05short\x1f\x08\x03key"].concat()
    );
    let later: Vec<u8> = [&b"\xbe"[..], rest].concat();
    // The cookie is coded beforehand, in the shorter form, unless the encoder codes otherwise.
    assert_eq!(blocks.next().unwrap(), later);
    assert_eq!(blocks.next().unwrap(), later);
}

/// The second time literals came from the prepared bytes, which nobody had told of the policy, and so were
/// open to entries on the way.
#[test]
fn with_the_policy_never_every_time_is_like_the_first() {
    let parts = [Part::Field(Field::new(b":method", b"GET")), Part::Field(Field::new(b"x-a", b"1"))];
    let prepared = PreparedBlock::new(parts).unwrap();
    let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Never, ..EncoderConfig::default() });
    let mut decoder = Decoder::new(DecoderLimits::default());
    for _ in 0..3 {
        let mut out = OutBuf::new();
        encoder.emit(&prepared, &[], &mut out);
        let mut count = 0;
        let mut visit = |field: Decoded<'_>| count += u32::from(field.never);
        decoder.decode(out.unsent(), true, &mut visit).unwrap();
        assert_eq!(count, 2);
    }
}

#[test]
fn an_entry_with_a_long_index_is_reached() {
    let mut encoder = Encoder::new(EncoderConfig { policy: Policy::Always, ..EncoderConfig::default() });
    let prepared = PreparedBlock::new([Part::Field(Field::new(b"x-a", b"1"))]).unwrap();
    let mut out = OutBuf::new();
    encoder.emit(&prepared, &[], &mut out);
    for count in 0..100 {
        encoder.encode([Field::new(b"a", count.to_string().as_bytes())], &mut out);
        out.clear();
        encoder.emit(&prepared, &[], &mut out);
        let index: usize = 62 + count + 1;
        let expected = if index < 127 { vec![0x80 | index as u8] } else { vec![0xff, (index - 127) as u8] };
        assert_eq!(out.unsent(), expected);
    }
}

#[test]
fn what_http_2_forbids_is_not_prepared() {
    let field = |name: &'static [u8], value: &'static [u8]| Part::Field(Field::new(name, value));
    let good = field(b"x-a", b"1");
    for (part, is_name) in [
        (field(b"X-A", b"1"), true),
        (field(b"", b"1"), true),
        (field(b":unknown", b"1"), true),
        (field(b"a b", b"1"), true),
        (Part::Hole { name: b"x:", indexing: Indexing::Auto }, true),
        (field(b"x-a", b"1\r\n"), false),
        (field(b"x-a", b" 1"), false),
        (field(b"x-a", b"1\0"), false),
    ] {
        let error = PreparedBlock::new([good, part]).unwrap_err();
        assert_eq!(error, PrepareError { part: 1, is_name });
        assert!(error.to_string().contains("part 1"));
    }
}

#[test]
#[should_panic(expected = "a value for each of its holes")]
fn a_hole_without_a_value_panics() {
    let prepared = PreparedBlock::new([Part::Hole { name: b":path", indexing: Indexing::Auto }]).unwrap();
    Encoder::new(EncoderConfig::default()).emit(&prepared, &[], &mut OutBuf::new());
}

#[test]
fn prepared_blocks_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<PreparedBlock>();
}
