//! Headers of gzip, against a reader that has all of the bytes at once (RFC 1952 §2.3).

use alula_coding::fuzzing;

/// The bytes as the beginning of a member.
pub fn gzip_header(data: &[u8]) {
    let own = fuzzing::gzip_header(data);
    assert_eq!(own.map_err(|_| ()), naive(data), "{own:?}");
    if let Ok(Some(bytes)) = own {
        assert_eq!(fuzzing::gzip_header(&data[..bytes]), own, "what follows has no say");
        assert_eq!(fuzzing::gzip_header(&data[..bytes - 1]), Ok(None));
    }
}

/// The number of bytes that the header has; none while it is not whole.
fn naive(data: &[u8]) -> Result<Option<usize>, ()> {
    let fixed = [Some(0x1f), Some(0x8b), Some(8)];
    let differs = |(byte, known): (&u8, &Option<u8>)| known.is_some_and(|known| known != *byte);
    if data.iter().zip(&fixed).any(differs) || data.get(3).is_some_and(|flags| flags & 0xe0 != 0) {
        return Err(());
    }
    if data.len() < 10 {
        return Ok(None);
    }
    let flags = data[3];
    let mut at = 10;
    if flags & 4 != 0 {
        let Some([low, high]) = data.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(*low) + 256 * usize::from(*high);
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let rest = data.get(at..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == 0) else { return Ok(None) };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        let Some(check) = data.get(at..at + 2) else { return Ok(None) };
        if (crc32(&data[..at]) as u16).to_le_bytes() != check {
            return Err(());
        }
        at += 2;
    }
    Ok(Some(at).filter(|at| *at <= data.len()))
}

/// RFC 1952 §8, a bit at a time.
fn crc32(bytes: &[u8]) -> u32 {
    let of_byte = |mut crc: u32, byte: &u8| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
        crc
    };
    !bytes.iter().fold(!0, of_byte)
}
