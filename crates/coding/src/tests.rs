//! Tests of every coding: whole and in pieces, cut short, damaged and blown up.

use std::sync::Arc;

use alula_fields::FieldSection;
use alula_net::{Cause, Error};

use crate::{Codings, DecoderPool};

/// Three sentences, so that there is something to look back on.
fn text() -> Vec<u8> {
    b"Alula decodes what it is asked to decode, and what it is asked to decode it decodes whole. ".repeat(3)
}

fn coded_as(names: &str) -> Codings {
    let mut fields = FieldSection::new();
    fields.append("content-encoding", names).unwrap();
    Codings::of(&fields)
}

/// Returns the content of a body that comes in these pieces.
fn decode<'a>(
    pool: &Arc<DecoderPool>,
    names: &str,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    bytes_max: u64,
) -> Result<Vec<u8>, Error> {
    let mut chain = DecoderPool::lend(pool, coded_as(names), bytes_max);
    let mut whole = Vec::new();
    let mut pieces = pieces.into_iter();
    let result = loop {
        match chain.decode(false) {
            Ok(true) => {
                whole.extend_from_slice(chain.take(chain.unread().len()));
                continue;
            }
            Ok(false) => {}
            Err(error) => break Err(error),
        }
        let coded = chain.refill();
        coded.clear();
        match pieces.next() {
            Some(piece) => coded.extend_from_slice(piece),
            None => break chain.decode(true).map(|more| assert!(!more, "all was decoded")),
        }
    };
    chain.give_back();
    result.map(|()| whole)
}

fn once(names: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    decode(&Arc::default(), names, [bytes], u64::MAX)
}

fn is_coding_error(error: &Error) -> bool {
    matches!(error.cause(), Cause::Coding(_))
}

/// Returns the test text in each coding, by its names, and whether damage to any byte is found.
fn codings() -> Vec<(&'static str, Vec<u8>, bool)> {
    let text = text();
    let mut all = Vec::new();
    #[cfg(feature = "gzip")]
    {
        all.push(("gzip", encode::gzip(&text), true));
        all.push(("X-GZIP", [encode::gzip(&text[..100]), encode::gzip(&text[100..])].concat(), true));
        all.push(("deflate", encode::zlib(&text), true));
        all.push(("deflate", encode::raw(&text), false));
        all.push(("gzip, deflate", encode::zlib(&encode::gzip(&text)), true));
    }
    #[cfg(feature = "brotli")]
    all.push(("br", encode::BROTLI.to_vec(), false));
    #[cfg(feature = "zstd")]
    {
        all.push(("zstd", encode::zstd(&text), true));
        all.push(("zstd", [encode::zstd(&text[..100]), encode::zstd(&text[100..])].concat(), true));
    }
    #[cfg(all(feature = "gzip", feature = "brotli"))]
    all.push(("br, gzip", encode::gzip(encode::BROTLI), true));
    all
}

mod encode {
    #[cfg(feature = "gzip")]
    use std::io::Write as _;

    /// Made with the brotli of Node.
    #[cfg(feature = "brotli")]
    pub(crate) const BROTLI: &[u8] = b"\
        \x1b\x10\x01\xe0\x8c\x94\xab\xe5\x6c\x11\xe4\x9c\x4b\x55\xfa\x78\xec\xe3\x1a\x04\xf9\xca\x0e\x1b\x70\x22\
        \x14\x50\x2a\x0b\x2c\xb4\x18\x9e\x9c\x0f\x6b\xe6\xa7\x41\xdd\xa1\x2e\xa2\x5e\x78\x78\xb2\x03\x6d\xa1\x1f\
        \x31\xe1\x4d\x1c\x9e\xe8\xa0\x0b";
    /// Four mebibytes of zeros, from the same.
    #[cfg(feature = "brotli")]
    pub(crate) const BROTLI_BOMB: &[u8] = b"\x9b\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x07";

    #[cfg(feature = "gzip")]
    pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(feature = "gzip")]
    pub(crate) fn zlib(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(feature = "gzip")]
    pub(crate) fn raw(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// Compresses with a checksum, as the program `zstd` does.
    #[cfg(feature = "zstd")]
    pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
        let mut coded = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        context.compress2(&mut coded, content).unwrap();
        coded
    }
}

#[test]
fn codings_are_found_by_their_names() {
    assert_eq!(coded_as(""), Codings::None);
    assert_eq!(coded_as("identity, ,"), Codings::None);
    for unknown in ["compress", "gzip, utf-8", "aws-chunked", "x-gzip2", "gzip;q=1"] {
        assert_eq!(coded_as(unknown), Codings::Unknown, "{unknown}");
    }
    for (names, ..) in codings() {
        assert!(matches!(coded_as(names), Codings::Known(..)), "{names}");
        let thrice = [names, names, names].join(", ");
        assert_eq!(coded_as(&thrice), Codings::TooMany);
        let error = once(&thrice, b"x").unwrap_err();
        assert!(error.to_string().contains("more than two"), "{error}");
    }
}

#[test]
fn each_coding_is_decoded_whole_and_split_anywhere() {
    let (text, pool) = (text(), Arc::default());
    for (names, coded, _) in codings() {
        assert_eq!(decode(&pool, names, [&coded[..]], u64::MAX).unwrap(), text, "{names}");
        for at in 0..=coded.len() {
            let (one, other) = coded.split_at(at);
            let back = decode(&pool, names, [one, other], u64::MAX);
            assert!(back.is_ok_and(|back| back == text), "{names} split at {at}");
        }
        let back = decode(&pool, names, coded.chunks(1), u64::MAX);
        assert!(back.is_ok_and(|back| back == text), "{names} byte by byte");
    }
}

#[test]
fn what_is_larger_than_a_step_is_decoded() {
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b"etaoin shrdlucmf"[(state >> 28) as usize]
    };
    let text: Vec<u8> = (0..500_000).map(|_| letter()).collect();
    let mut all: Vec<(&str, Vec<u8>)> = Vec::new();
    #[cfg(feature = "gzip")]
    {
        all.push(("gzip", encode::gzip(&text)));
        all.push(("gzip, deflate", encode::raw(&encode::gzip(&text))));
    }
    #[cfg(feature = "zstd")]
    all.push(("zstd", encode::zstd(&text)));
    for (names, coded) in all {
        let back = decode(&Arc::default(), names, coded.chunks(3_001), u64::MAX).unwrap();
        assert!(back == text, "{names}");
        let error = decode(&Arc::default(), names, [&coded[..]], 499_999).unwrap_err();
        assert!(matches!(error.cause(), Cause::TooLong(499_999)), "{error}");
        assert!(decode(&Arc::default(), names, [&coded[..]], 500_000).is_ok(), "{names}");
    }
}

#[test]
fn nothing_is_nothing_in_any_coding() {
    for (names, ..) in codings() {
        assert_eq!(decode(&Arc::default(), names, [], 0).unwrap(), b"", "{names}");
        assert_eq!(once(names, b"").unwrap(), b"", "{names}");
    }
}

#[test]
fn what_is_cut_short_is_an_error_at_any_byte() {
    let pool = Arc::default();
    for (names, coded, _) in codings() {
        // The first member of two is whole in itself.
        let members = [encode_first(names, &coded), Some(coded.len())];
        for at in 1..coded.len() {
            let back = decode(&pool, names, [&coded[..at]], u64::MAX);
            match back {
                Err(error) => assert!(is_coding_error(&error), "{names} cut at {at}: {error}"),
                Ok(_) => assert!(
                    members.contains(&Some(at)) || members.contains(&Some(at - 1)),
                    "{names} cut at {at}"
                ),
            }
        }
    }
}

/// Returns the length of the first of two members, found by where the text of one is whole.
fn encode_first(names: &str, coded: &[u8]) -> Option<usize> {
    let is_first = |at: &usize| once(names, &coded[..*at]).is_ok_and(|back| back == text()[..100]);
    (1..coded.len()).find(is_first)
}

#[test]
fn damage_to_any_byte_is_an_error_or_changes_nothing() {
    let (text, pool) = (text(), Arc::default());
    for (names, coded, is_checked) in codings() {
        for at in 0..coded.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = coded.clone();
                damaged[at] ^= flip;
                match decode(&pool, names, [&damaged[..]], u64::MAX) {
                    Err(error) => assert!(is_coding_error(&error), "{error}"),
                    // The second member of two, which is no member any more, is dropped as what follows the
                    // first.
                    Ok(back) => assert!(
                        !is_checked || back == text || back == text[..100],
                        "{names}: byte {at} changed by {flip:#x}"
                    ),
                }
            }
        }
    }
}

#[cfg(feature = "gzip")]
#[test]
fn what_follows_gzip_and_deflate_is_dropped() {
    for (names, coded) in [("gzip", encode::gzip(&text())), ("deflate", encode::zlib(&text()))] {
        for rest in [&b"\0\0\0\0"[..], b"\x1f", b"\x1f\x1f\x8b", b"garbage", &[7; 100_000]] {
            let all = [&coded[..], rest].concat();
            assert_eq!(once(names, &all).unwrap(), text());
            assert_eq!(decode(&Arc::default(), names, all.chunks(1), u64::MAX).unwrap(), text());
        }
    }
    let error = once("gzip", &[encode::gzip(b"one"), vec![0x1f, 0x8b, 7]].concat()).unwrap_err();
    assert!(is_coding_error(&error), "{error}");
}

#[cfg(feature = "gzip")]
#[test]
fn bytes_that_decode_to_nothing_are_bounded_by_what_may_be_decoded() {
    let all = [encode::gzip(b"x"), vec![7; 2 + (64 << 10)]].concat();
    let within = &all[..crate::coded_bytes_max(1) as usize];
    assert_eq!(decode(&Arc::default(), "gzip", within.chunks(999), 1).unwrap(), b"x");
    let error = decode(&Arc::default(), "gzip", all.chunks(999), 1).unwrap_err();
    assert!(matches!(error.cause(), Cause::TooLong(1)), "{error}");
}

#[cfg(feature = "gzip")]
#[test]
fn every_part_of_a_header_of_gzip_is_passed_over_and_its_check_is_made() {
    let make = |sum: u16| {
        let mut member = b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x05\0extraname\0comment\0".to_vec();
        member.extend_from_slice(&sum.to_le_bytes());
        member.extend_from_slice(&encode::gzip(b"content")[10..]);
        member
    };
    let mut crc = flate2::Crc::new();
    crc.update(b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x05\0extraname\0comment\0");
    let whole = make(crc.sum() as u16);
    assert_eq!(once("gzip", &whole).unwrap(), b"content");
    assert_eq!(decode(&Arc::default(), "gzip", whole.chunks(1), u64::MAX).unwrap(), b"content");
    let error = once("gzip", &make(crc.sum() as u16 ^ 1)).unwrap_err();
    assert!(error.to_string().contains("header of gzip is damaged"), "{error}");
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_takes_windows_of_8_mib_and_no_larger() {
    let with_window = |log: u32| {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(zstd_safe::CParameter::WindowLog(log)).unwrap();
        let mut coded = Vec::with_capacity(1 << 16);
        // In a stream whose length is not known, so that the window is as large as was said.
        let mut out = zstd_safe::OutBuffer::around(&mut coded);
        let mut input = zstd_safe::InBuffer::around(b"content");
        context.compress_stream(&mut out, &mut input).unwrap();
        assert_eq!(context.end_stream(&mut out).unwrap(), 0);
        coded
    };
    assert_eq!(once("zstd", &with_window(23)).unwrap(), b"content");
    let error = once("zstd", &with_window(24)).unwrap_err();
    assert!(error.to_string().contains("too much memory"), "{error}");
    let garbage = [encode::zstd(b"content"), b"garbage".to_vec()].concat();
    assert!(is_coding_error(&once("zstd", &garbage).unwrap_err()));
}

#[test]
fn bombs_go_no_further_than_a_hundredfold() {
    let mut all: Vec<(&str, Vec<u8>)> = Vec::new();
    #[cfg(feature = "gzip")]
    {
        let zeros = vec![0; 2 << 20];
        all.push(("gzip", encode::gzip(&zeros)));
        all.push(("deflate", encode::raw(&zeros)));
        // The outer one grows, and the inner one makes little of it.
        let inner = [encode::gzip(b"little"), zeros.clone()].concat();
        all.push(("gzip, gzip", encode::gzip(&inner)));
        let twice = encode::gzip(&encode::gzip(&zeros));
        all.push(("gzip, gzip", twice));
    }
    #[cfg(feature = "zstd")]
    all.push(("zstd", encode::zstd(&vec![0; 2 << 20])));
    #[cfg(feature = "brotli")]
    all.push(("br", encode::BROTLI_BOMB.to_vec()));
    for (names, bomb) in all {
        let error = once(names, &bomb).map(|bytes| bytes.len()).unwrap_err();
        assert!(matches!(error.cause(), Cause::Growth(100)), "{names}: {error}");
    }
    #[cfg(feature = "gzip")]
    assert_eq!(once("gzip", &encode::gzip(&vec![0; 1 << 20])).unwrap().len(), 1 << 20, "a mebibyte is free");
}

#[test]
fn an_error_stays_and_a_spare_decoder_knows_nothing_of_it() {
    let pool = Arc::default();
    for (names, coded, _) in codings() {
        let mut chain = DecoderPool::lend(&pool, coded_as(names), u64::MAX);
        chain.refill().extend_from_slice(b"\xff\xff\xff\xff\xff\xff\xff\xff");
        let first = chain.decode(false).unwrap_err();
        assert_eq!(chain.unread(), b"");
        chain.refill().clear();
        let again = chain.decode(true).unwrap_err();
        assert_eq!(first.to_string(), again.to_string());
        chain.give_back();
        assert_eq!(decode(&pool, names, [&coded[..]], u64::MAX).unwrap(), text(), "{names}");
    }
}
