//! Prepared blocks: what they say never depends on what the table went through in between.

use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Part, Policy,
    PrepareError, PreparedBlock,
};
use alula_machine::OutBuf;
use alula_testkit::Rng;

type Owned = (Vec<u8>, Vec<u8>);

/// A prepared block, and what it is made of: holes have no value.
struct Sample {
    prepared: PreparedBlock,
    parts: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

fn sample(rng: &mut Rng) -> Sample {
    const NAMES: [&[u8]; 12] = [
        b":method",
        b":path",
        b"accept",
        b"cookie",
        b"authorization",
        b"x-a",
        b"x-b",
        b"date",
        b"x-request-id",
        b"te",
        b"user-agent",
        b"x-c",
    ];
    const TREATMENTS: [Indexing; 5] =
        [Indexing::Auto, Indexing::Auto, Indexing::Index, Indexing::Without, Indexing::Never];
    let parts: Vec<_> = (0..1 + rng.below(10))
        .map(|_| {
            let len = rng.below(40);
            let value = (!rng.one_in(4)).then(|| rng.bytes_of(b"abcdefgh0123456789;={}", len));
            (rng.pick(&NAMES).to_vec(), value)
        })
        .collect();
    let prepared = PreparedBlock::new(parts.iter().map(|(name, value)| {
        let indexing = *rng.pick(&TREATMENTS);
        match value {
            Some(value) => Part::Field(Field::new(name, value).with(indexing)),
            None => Part::Hole { name, indexing },
        }
    }));
    Sample { prepared: prepared.unwrap(), parts }
}

fn emit(encoder: &mut Encoder, sample: &Sample, rng: &mut Rng, out: &mut OutBuf) -> Vec<Owned> {
    let mut values = Vec::new();
    let fields = sample.parts.iter().map(|(name, value)| match value {
        Some(value) => (name.clone(), value.clone()),
        None => {
            let len = rng.below(60);
            let value = rng.bytes_of(b"xyz", len);
            values.push(value.clone());
            (name.clone(), value)
        }
    });
    let fields = fields.collect();
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    encoder.emit(&sample.prepared, &values, out);
    encoder.check_invariants();
    fields
}

#[test]
fn prepared_blocks_mean_what_they_are_made_of_whatever_happens_between() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let policy = *rng.pick(&[Policy::Static, Policy::Always, Policy::Repeat, Policy::Never]);
        let huffman = *rng.pick(&[Huffman::Never, Huffman::Shorter, Huffman::Always]);
        let table_bytes_max = *rng.pick(&[0, 200, 400, 4096, 20_000]);
        let mut encoder = Encoder::new(EncoderConfig { policy, huffman, table_bytes_max });
        let mut decoder = Decoder::new(DecoderLimits::default());
        // More than an encoder has plans for.
        let samples: Vec<_> = (0..12).map(|_| sample(&mut rng)).collect();
        let mut out = OutBuf::new();
        for round in 0..400 {
            out.clear();
            if rng.one_in(40) {
                let limit = *rng.pick(&[0, 150, 4096, 20_000]);
                encoder.set_peer_table_limit(limit);
                decoder.set_table_limit(limit);
            }
            if rng.one_in(100) {
                encoder.reset();
                decoder.reset();
            }
            if rng.one_in(100) {
                encoder.trim();
            }
            // Some blocks come often, so that their plans hold.
            let sample = if rng.one_in(3) { rng.pick(&samples) } else { &samples[0] };
            let expected = match rng.one_in(5) {
                true => {
                    let name = format!("x-{}", rng.below(50)).into_bytes();
                    encoder.encode([Field::new(&name, b"1").with(Indexing::Index)], &mut out);
                    vec![(name, b"1".to_vec())]
                }
                false => emit(&mut encoder, sample, &mut rng, &mut out),
            };
            let mut seen = Vec::new();
            let mut visit = |field: Decoded<'_>| seen.push((field.name.to_vec(), field.value.to_vec()));
            decoder.decode(out.unsent(), true, &mut visit).unwrap();
            assert_eq!(seen, expected, "seed {seed} round {round} {policy:?} {table_bytes_max}");
            let tables = [encoder.table(), decoder.table()].map(|table| format!("{table:?}"));
            assert_eq!(tables[0], tables[1]);
        }
    }
}

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
