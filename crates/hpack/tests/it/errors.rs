//! Every rule of RFC 7541 that a block can break, with a block that does, however it is cut.

use alula_hpack::{DecodeError, Decoded, Decoder, DecoderLimits};
use alula_testkit::{Pieces, at_every_split, whole};

/// What happens before the block: limits set one after the other, as acknowledged.
type Limits = &'static [u32];

/// A block, what happened before it, and the rule it breaks.
const ROWS: &[(Limits, &[u8], &str)] = &[
    (&[], b"\x80", "an indexed field with index 0 (RFC 7541 §6.1)"),
    (&[], b"\x82\x80", "an indexed field with index 0 (RFC 7541 §6.1)"),
    (&[], b"\xbe", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\xff\x00", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\xff\xff\xff\xff\xff\x0e", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\x40\x01a\x01b\xbf", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\x7e\x01b", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\x0f\x2f\x01b", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (&[], b"\x1f\x2f\x01b", "an index beyond both tables (RFC 7541 §2.3.3)"),
    (
        &[],
        b"\xff\x80\x80\x80\x80\x80\x00",
        "an integer of more than 32 bits or five continuation bytes (RFC 7541 §5.1)",
    ),
    (
        &[],
        b"\xff\xff\xff\xff\xff\x7f",
        "an integer of more than 32 bits or five continuation bytes (RFC 7541 §5.1)",
    ),
    (
        &[],
        b"\x40\x7f\x81\xff\xff\xff\x1f",
        "an integer of more than 32 bits or five continuation bytes (RFC 7541 §5.1)",
    ),
    (
        &[],
        b"\x3f\xff\xff\xff\xff\xff\xff\x01",
        "an integer of more than 32 bits or five continuation bytes (RFC 7541 §5.1)",
    ),
    (&[], b"\xff", "a block that ends inside an integer (RFC 7541 §5.1)"),
    (&[], b"\x7f\x80", "a block that ends inside an integer (RFC 7541 §5.1)"),
    (&[], b"\x3f\xe1", "a block that ends inside an integer (RFC 7541 §5.1)"),
    (&[], b"\x40\x7f", "a block that ends inside an integer (RFC 7541 §5.1)"),
    (&[], b"\x40\x01a\xff\x80", "a block that ends inside an integer (RFC 7541 §5.1)"),
    (&[], b"\x40", "a block that ends before a string of a literal (RFC 7541 §6.2)"),
    (&[], b"\x44", "a block that ends before a string of a literal (RFC 7541 §6.2)"),
    (&[], b"\x10\x01a", "a block that ends before a string of a literal (RFC 7541 §6.2)"),
    (&[], b"\x00\x02a", "a block that ends inside a string (RFC 7541 §5.2)"),
    (&[], b"\x44\x02/", "a block that ends inside a string (RFC 7541 §5.2)"),
    (&[], b"\x04\x83\x1f", "a block that ends inside a string (RFC 7541 §5.2)"),
    (&[], b"\x04\x84\xff\xff\xff\xff", "the end-of-string symbol in a string (RFC 7541 §5.2)"),
    (
        &[],
        b"\x04\x88\x1f\xff\xff\xff\xff\xff\xff\xff",
        "the end-of-string symbol in a string (RFC 7541 §5.2)",
    ),
    (&[], b"\x04\x81\xff", "Huffman padding longer than seven bits (RFC 7541 §5.2)"),
    (&[], b"\x04\x82\x1f\xff", "Huffman padding longer than seven bits (RFC 7541 §5.2)"),
    (&[], b"\x00\x82\x1f\xff\x00", "Huffman padding longer than seven bits (RFC 7541 §5.2)"),
    (&[], b"\x04\x81\x1e", "Huffman padding that is not all ones (RFC 7541 §5.2)"),
    (&[], b"\x04\x83\xff\xff\xfe", "Huffman padding that is not all ones (RFC 7541 §5.2)"),
    (&[], b"\x82\x20", "a table size update after a field (RFC 7541 §4.2)"),
    (&[], b"\x3f\xe1\x1f\x04\x01/\x20", "a table size update after a field (RFC 7541 §4.2)"),
    (&[], b"\x20\x21\x22", "more than two table size updates in a block (RFC 7541 §4.2)"),
    (&[], b"\x3f\xe2\x1f", "a table size update above the limit (RFC 7541 §6.3)"),
    (&[100], b"\x3f\x46", "a table size update above the limit (RFC 7541 §6.3)"),
    (&[100], b"\x82", "no table size update although the limit was lowered (RFC 7541 §4.2)"),
    (&[100], b"", "no table size update although the limit was lowered (RFC 7541 §4.2)"),
    (&[100, 4096], b"\x82", "no table size update although the limit was lowered (RFC 7541 §4.2)"),
    (&[100, 4096], b"\x3f\xe1\x1f", "no table size update although the limit was lowered (RFC 7541 §4.2)"),
    (&[100, 50, 200], b"\x3f\x45", "no table size update although the limit was lowered (RFC 7541 §4.2)"),
    (&[], b"\x00\x7f\xa2\x1f", "a string longer than the limit (RFC 7541 §7.4)"),
    (&[], b"\x04\xff\xa2\x1f", "a string longer than the limit (RFC 7541 §7.4)"),
];

/// Blocks that look like the ones above and are right.
const RIGHT: &[(Limits, &[u8])] = &[
    (&[], b""),
    (&[], b"\xbd"),
    (&[], b"\x40\x00\x00\xbe"),
    (&[], b"\x04\x80"),
    (&[], b"\x04\x81\x1f"),
    (&[], b"\x3f\x81\x80\x80\x80\x00"),
    (&[], b"\x20\x3f\xe1\x1f\x82"),
    (&[], b"\x3f\xe1\x1f"),
    (&[4096], b"\x82"),
    (&[8192], b"\x82"),
    (&[8192], b"\x3f\xe1\x3f\x82"),
    (&[100], b"\x20\x82"),
    (&[100], b"\x3f\x45\x82"),
    (&[100, 4096], b"\x3f\x45\x3f\xe1\x1f\x82"),
    (&[100, 4096], b"\x20\x82"),
    (&[100, 50, 200], b"\x3f\x13\x3f\xa9\x01\x82"),
];

/// What a block with a string too long is measured with.
const STRING_BYTES: u32 = 4000;

fn decode(limits: Limits, pieces: &Pieces<'_>) -> (Result<(), DecodeError>, usize) {
    let mut decoder = Decoder::new(DecoderLimits { string_bytes: STRING_BYTES, ..DecoderLimits::default() });
    limits.iter().for_each(|&limit| decoder.set_table_limit(limit));
    let mut count = 0;
    let mut visit = |_: Decoded<'_>| count += 1;
    let pieces: Vec<&[u8]> = pieces.iter().collect();
    let mut result = Ok(());
    for (at, piece) in pieces.iter().enumerate() {
        result = result.and(decoder.decode(piece, at + 1 == pieces.len(), &mut visit));
    }
    if pieces.is_empty() {
        result = decoder.decode(b"", true, &mut visit);
    }
    if let Err(error) = result {
        let again = decoder.decode(b"\x82", true, &mut |_: Decoded<'_>| panic!("a field after an error"));
        assert_eq!(again, Err(error));
    }
    (result, count)
}

#[test]
fn every_rule_is_kept_at_every_split() {
    for (limits, block, rule) in ROWS {
        let (result, _) = at_every_split(block, 3, |pieces| decode(limits, pieces));
        assert_eq!(result.map_err(DecodeError::rule), Err(*rule), "{limits:?} {}", block.escape_ascii());
    }
    for (limits, block) in RIGHT {
        let (result, _) = at_every_split(block, 3, |pieces| decode(limits, pieces));
        assert_eq!(result, Ok(()), "{limits:?} {}", block.escape_ascii());
    }
}

#[test]
fn only_the_limit_is_a_limit_and_every_rule_names_its_section() {
    for (limits, block, rule) in ROWS {
        let error = decode(limits, &whole(block)).0.unwrap_err();
        assert_eq!(error.is_limit(), rule.contains("limit (RFC 7541 §7.4)"));
        assert_eq!(error.to_string(), *rule);
        assert!(rule.ends_with(')') && rule.contains("(RFC 7541 §"));
        assert!(format!("{error:?}").contains(rule));
    }
}

#[test]
fn the_longest_string_is_taken() {
    for len in [STRING_BYTES - 1, STRING_BYTES, STRING_BYTES + 1] {
        let mut block = vec![0x04, 0x7f];
        let mut rest = len - 127;
        while rest >= 128 {
            block.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        block.push(rest as u8);
        block.extend(vec![b'/'; len as usize]);
        let (result, count) = at_every_split(&block, 11, |pieces| decode(&[], pieces));
        assert_eq!((result.is_ok(), count), (len <= STRING_BYTES, usize::from(len <= STRING_BYTES)));
    }
}

#[test]
fn a_reset_forgives() {
    let mut decoder = Decoder::new(DecoderLimits::default());
    decoder.set_table_limit(0);
    decoder.decode(b"\x82", true, &mut |_: Decoded<'_>| ()).unwrap_err();
    decoder.reset();
    decoder.decode(b"\x82", true, &mut |_: Decoded<'_>| ()).unwrap();
}
