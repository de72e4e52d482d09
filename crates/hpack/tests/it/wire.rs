//! What the encoder writes, byte for byte.

use alula_fields::KnownName;
use alula_hpack::{
    Decoded, Decoder, DecoderLimits, Encoder, EncoderConfig, Field, Huffman, Indexing, Policy,
};
use alula_machine::OutBuf;
use alula_testkit::hex;

use crate::lists;

fn encoder(policy: Policy, huffman: Huffman) -> Encoder {
    Encoder::new(EncoderConfig { policy, huffman, ..EncoderConfig::default() })
}

fn encode(encoder: &mut Encoder, fields: &[Field<'_>]) -> Vec<u8> {
    let mut out = OutBuf::new();
    encoder.encode(fields.iter().copied(), &mut out);
    encoder.check_invariants();
    out.unsent().to_vec()
}

fn encode_pairs(encoder: &mut Encoder, pairs: &[(&str, &str)]) -> String {
    let fields: Vec<_> =
        pairs.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())).collect();
    hex::format(&encode(encoder, &fields))
}

#[test]
fn a_small_request_in_three_treatments() {
    let first = "82 84 87 41 86 a0e41d139d09 40 82 94e7 83 8c767f";
    let without = "02 83 c5837f 04 81 63 06 84 9d29ad1f 01 86 a0e41d139d09 00 82 94e7 83 8c767f";
    let never = "12 83 c5837f 14 81 63 16 84 9d29ad1f 11 86 a0e41d139d09 10 82 94e7 83 8c767f";
    for (indexing, first, later, entries, bytes) in [
        (Indexing::Index, first, "82 84 87 bf be", 2, 89),
        (Indexing::Without, without, without, 0, 0),
        (Indexing::Never, never, never, 0, 0),
    ] {
        let mut encoder = encoder(Policy::Always, Huffman::Always);
        let fields = lists::fields(&lists::LOCALHOST, indexing);
        assert_eq!(encode(&mut encoder, &fields), hex::parse(first), "{indexing:?}");
        for _ in 0..100 {
            assert_eq!(encode(&mut encoder, &fields), hex::parse(later), "{indexing:?}");
        }
        assert_eq!((encoder.table().len(), encoder.table().bytes()), (entries, bytes));
    }
}

#[test]
fn a_push_notification_is_ten_bytes_from_the_second_on() {
    let mut encoder = encoder(Policy::Always, Huffman::Always);
    let fields = lists::fields(&lists::PUSH, Indexing::Index);
    assert_eq!(encode(&mut encoder, &fields).len(), 213);
    for _ in 0..100 {
        assert_eq!(encode(&mut encoder, &fields), hex::parse("83 c5 87 c4 c3 c2 c1 c0 bf be"));
    }
    assert_eq!((encoder.table().len(), encoder.table().bytes()), (8, 553));
}

/// The same block again and again inserts again and again, so that from the 47th on every entry evicts one.
#[test]
fn a_block_decoded_again_and_again_evicts() {
    let mut encoder = encoder(Policy::Always, Huffman::Always);
    let block = encode(&mut encoder, &lists::fields(&lists::LOCALHOST, Indexing::Index));
    let mut decoder = Decoder::new(DecoderLimits::default());
    for round in 1..=200 {
        let mut count = 0;
        decoder.decode(&block, true, &mut |_: Decoded<'_>| count += 1).unwrap();
        decoder.check_invariants();
        assert_eq!((count, decoder.table().len()), (5, (round * 2).min(92)));
    }
}

#[test]
fn the_best_match_is_static_then_dynamic_and_a_pair_before_a_name() {
    let mut encoder = encoder(Policy::Always, Huffman::Never);
    let blocks = [
        // A pair of the static table; a name of the static table.
        ([("accept-encoding", "gzip, deflate"), ("accept-encoding", "br")], "905002 6272"),
        // A pair of the dynamic table, before the name in the static one; a new name.
        ([("accept-encoding", "br"), ("x-a", "1")], "be40 0378 2d61 0131"),
        // A pair, and the newest of the names that are there.
        ([("x-a", "1"), ("x-a", "2")], "be7e 0132"),
        // An older pair of a name that has come again.
        ([("x-a", "1"), ("x-a", "2")], "bfbe"),
        ([("accept-encoding", "zstd"), ("accept-encoding", "br")], "5004 7a73 7464 c1"),
    ];
    for (pairs, wire) in blocks {
        assert_eq!(hex::parse(&encode_pairs(&mut encoder, &pairs)), hex::parse(wire), "{pairs:?}");
    }
}

#[test]
fn the_repeat_policy_enters_what_comes_twice() {
    let mut encoder = encoder(Policy::Repeat, Huffman::Never);
    let agent = [("user-agent", "x")];
    let wire: Vec<String> = (0..3).map(|_| encode_pairs(&mut encoder, &agent)).collect();
    assert_eq!(wire.join(", "), "0f2b 0178, 7a01 78, be");
    // A value that never comes again is not entered, and a name that no table has is.
    for round in 0..100 {
        encode_pairs(&mut encoder, &[(":path", &format!("/{round}")), ("x-id", &round.to_string())]);
    }
    let names: Vec<_> = encoder.table().entries().map(|(name, _)| String::from_utf8_lossy(name)).collect();
    assert_eq!(names, ["x-id", "user-agent"]);
}

#[test]
fn the_static_policy_needs_no_state_and_obeys_nobody_else() {
    let mut encoder = encoder(Policy::Static, Huffman::Never);
    let fields = [
        Field::new(b":method", b"GET"),
        Field::new(b":path", b"/a").with(Indexing::Index),
        Field::new(b"x-a", b"1"),
        Field::new(b"authorization", b"a"),
    ];
    let block = encode(&mut encoder, &fields);
    assert_eq!(hex::format(&block), hex::format(&hex::parse("82 04 02 2f61 00 03782d61 0131 1f08 0161")));
    assert_eq!(encode(&mut encoder, &fields), block);
    // A higher limit is of no interest; a lower one must be acknowledged.
    encoder.set_peer_table_limit(65_536);
    assert_eq!(encode(&mut encoder, &fields), block);
    encoder.set_peer_table_limit(0);
    assert_eq!(encode(&mut encoder, &fields), [&b"\x20"[..], &block].concat());
    encoder.set_peer_table_limit(4096);
    assert_eq!(encode(&mut encoder, &fields), block);
}

#[test]
fn secrets_are_never_indexed_unless_the_caller_says_so() {
    let long = "session=0123456789ab";
    assert_eq!(long.len(), 20);
    for policy in [Policy::Always, Policy::Repeat] {
        let mut encoder = encoder(policy, Huffman::Never);
        let secrets =
            [("authorization", "Basic x"), ("proxy-authorization", "Basic x"), ("cookie", &long[1..])];
        let first = encode_pairs(&mut encoder, &secrets);
        for _ in 0..5 {
            assert_eq!(encode_pairs(&mut encoder, &secrets), first);
            encode_pairs(&mut encoder, &[("cookie", long)]);
        }
        let entries: Vec<_> = encoder.table().entries().collect();
        assert_eq!(entries, [(&b"cookie"[..], long.as_bytes())]);
        // Entered on demand; and still no index where it is not demanded.
        let secret = Field::known(KnownName::AUTHORIZATION, b"Basic x");
        assert_eq!(encode(&mut encoder, &[secret.with(Indexing::Index)])[0] & 0xc0, 0x40);
        assert_eq!(encode(&mut encoder, &[secret.with(Indexing::Index)]), b"\xbe");
        assert_eq!(encode(&mut encoder, &[secret])[0] & 0xf0, 0x10);
    }
}

#[test]
fn size_updates_are_the_smallest_and_the_last() {
    let rows: &[(u32, &[u32], &str)] = &[
        (4096, &[], ""),
        (4096, &[4096], ""),
        (4096, &[8192], ""),
        (4096, &[100], "3f45"),
        (4096, &[100, 4096], "3f45 3fe1 1f"),
        (4096, &[100, 0, 200], "20 3fa9 01"),
        (4096, &[8192, 100], "3f45"),
        (16_384, &[8192], "3fe1 3f"),
        (16_384, &[8192, 4096], ""),
        (16_384, &[8192, 6000], "3fd1 2e"),
        (16_384, &[8192, 5000, 100, 8192], "3f45 3fe1 3f"),
        (100, &[], "3f45"),
        (100, &[4096, 200], "3f45"),
        (100, &[50], "3f13"),
        (0, &[100], "20"),
    ];
    for (own, limits, wire) in rows {
        let config = EncoderConfig { table_bytes_max: *own, policy: Policy::Always, huffman: Huffman::Never };
        let mut encoder = Encoder::new(config);
        for round in 0..2 {
            limits.iter().for_each(|&limit| encoder.set_peer_table_limit(limit));
            let expected = [hex::parse(wire), vec![0x82]].concat();
            let method = [Field::new(b":method", b"GET")];
            assert_eq!(encode(&mut encoder, &method), expected, "{own} {limits:?} round {round}");
            assert_eq!(encode(&mut encoder, &method), [0x82], "{own} {limits:?}");
            encoder.reset();
        }
    }
}

#[test]
fn an_entry_that_does_not_fit_is_a_literal_and_harms_nobody() {
    let mut encoder = encoder(Policy::Always, Huffman::Never);
    encode_pairs(&mut encoder, &[("x-a", "1")]);
    let large = "z".repeat(4096);
    assert!(encode_pairs(&mut encoder, &[("x-b", &large)]).starts_with("0003"));
    assert_eq!(encode_pairs(&mut encoder, &[("x-a", "1")]), "be");
}

#[test]
fn more_fields_than_a_quick_run_holds_come_out_in_order() {
    let mut encoder = encoder(Policy::Always, Huffman::Never);
    let values: Vec<String> = (0..150).map(|value| value.to_string()).collect();
    let fields: Vec<_> = values
        .iter()
        .flat_map(|value| [Field::new(b":method", b"GET"), Field::new(b"date", value.as_bytes())])
        .collect();
    let mut decoder = Decoder::new(DecoderLimits::default());
    for _ in 0..4 {
        let block = encode(&mut encoder, &fields);
        let mut seen = Vec::new();
        let mut visit = |field: Decoded<'_>| seen.push((field.name.to_vec(), field.value.to_vec()));
        decoder.decode(&block, true, &mut visit).unwrap();
        let expected: Vec<_> =
            fields.iter().map(|field| (field.name.to_vec(), field.value.to_vec())).collect();
        assert_eq!(seen, expected);
    }
    let same = vec![Field::new(b":method", b"GET"); 1000];
    assert_eq!(encode(&mut encoder, &same), [0x82; 1000]);
}
