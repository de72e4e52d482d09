//! A decoder as simple as can be: a list for a table, a string copied wherever one is named.

use std::collections::VecDeque;
use std::sync::OnceLock;

use alula_hpack::{Decoded, Decoder, DecoderLimits};

use super::naive_huffman;

/// Name, value, and whether it came as never to be indexed.
pub(crate) type Owned = (Vec<u8>, Vec<u8>, bool);

/// A rule was broken; which one, the model does not say.
#[derive(Debug)]
pub(crate) struct Broken;

pub(crate) struct NaiveDecoder {
    /// Newest first.
    pub(crate) entries: VecDeque<(Vec<u8>, Vec<u8>)>,
    bytes_max: usize,
    limit: usize,
    string_bytes: usize,
    /// The next block must begin with an update to at most this.
    owed: Option<usize>,
}

impl NaiveDecoder {
    pub(crate) fn new(limits: DecoderLimits) -> Self {
        let bytes_max = limits.table_bytes as usize;
        let string_bytes = limits.string_bytes as usize;
        Self { entries: VecDeque::new(), bytes_max, limit: bytes_max, string_bytes, owed: None }
    }

    pub(crate) fn set_table_limit(&mut self, bytes: usize) {
        self.limit = bytes;
        if bytes < self.bytes_max {
            self.owed = Some(self.owed.map_or(bytes, |owed| owed.min(bytes)));
        }
    }

    /// Decodes a whole block; fields before a broken rule are there.
    pub(crate) fn decode(&mut self, block: &[u8]) -> (Vec<Owned>, Result<(), Broken>) {
        let mut fields = Vec::new();
        let result = self.decode_into(block, &mut fields);
        (fields, result)
    }

    fn decode_into(&mut self, block: &[u8], fields: &mut Vec<Owned>) -> Result<(), Broken> {
        let mut rest = self.updates(block)?;
        if self.owed.is_some() {
            return Err(Broken);
        }
        while let Some(&first) = rest.first() {
            match first {
                0x80.. => {
                    let (name, value) = self.entry(integer(&mut rest, 7)?)?;
                    fields.push((name, value, false));
                }
                0x20..0x40 => return Err(Broken),
                _ => {
                    let (name, value) = self.literal(&mut rest, if first >= 0x40 { 6 } else { 4 })?;
                    fields.push((name.clone(), value.clone(), first & 0xf0 == 0x10));
                    if first >= 0x40 {
                        self.entries.push_front((name, value));
                        self.evict();
                    }
                }
            }
        }
        Ok(())
    }

    /// At most two size updates at the start of a block (RFC 7541 §4.2).
    fn updates<'b>(&mut self, mut block: &'b [u8]) -> Result<&'b [u8], Broken> {
        for _ in 0..2 {
            if !matches!(block.first(), Some(0x20..0x40)) {
                break;
            }
            let bytes = integer(&mut block, 5)?;
            if bytes > self.limit || self.owed.take().is_some_and(|owed| bytes > owed) {
                return Err(Broken);
            }
            self.bytes_max = bytes;
            self.evict();
        }
        Ok(block)
    }

    fn literal(&self, rest: &mut &[u8], prefix: u32) -> Result<(Vec<u8>, Vec<u8>), Broken> {
        let name = match integer(rest, prefix)? {
            0 => self.string(rest)?,
            index => self.entry(index)?.0,
        };
        Ok((name, self.string(rest)?))
    }

    fn string(&self, rest: &mut &[u8]) -> Result<Vec<u8>, Broken> {
        let is_coded = rest.first().is_some_and(|first| first & 0x80 != 0);
        let len = integer(rest, 7)?;
        let (string, after) =
            rest.split_at_checked(len).filter(|_| len <= self.string_bytes).ok_or(Broken)?;
        *rest = after;
        if is_coded { naive_huffman::decode(string).ok_or(Broken) } else { Ok(string.to_vec()) }
    }

    fn entry(&self, index: usize) -> Result<(Vec<u8>, Vec<u8>), Broken> {
        let dynamic = || index.checked_sub(62).and_then(|place| self.entries.get(place));
        static_table().get(index).filter(|_| index > 0).or_else(dynamic).cloned().ok_or(Broken)
    }

    fn evict(&mut self) {
        let size = |entries: &VecDeque<(Vec<u8>, Vec<u8>)>| {
            entries.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>()
        };
        while size(&self.entries) > self.bytes_max {
            self.entries.pop_back();
        }
    }
}

/// RFC 7541 Appendix A by index, as any decoder gives it away; place 0 is empty.
fn static_table() -> &'static [(Vec<u8>, Vec<u8>)] {
    static TABLE: OnceLock<Vec<(Vec<u8>, Vec<u8>)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rows = vec![(Vec::new(), Vec::new())];
        let mut visit = |field: Decoded<'_>| rows.push((field.name.to_vec(), field.value.to_vec()));
        let block: Vec<u8> = (0x81..=0x80 + 61).collect();
        Decoder::new(DecoderLimits::default()).decode(&block, true, &mut visit).expect("indexes of rows");
        rows
    })
}

/// At most five continuation bytes and 32 bits.
fn integer(rest: &mut &[u8], prefix: u32) -> Result<usize, Broken> {
    let mut next = || {
        let (&first, after) = rest.split_first().ok_or(Broken)?;
        *rest = after;
        Ok(u64::from(first))
    };
    let full = (1 << prefix) - 1;
    let mut value = next()? & full;
    if value < full {
        return Ok(value as usize);
    }
    for place in 0..5 {
        let byte = next()?;
        value += (byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return u32::try_from(value).map(|value| value as usize).map_err(|_| Broken);
        }
    }
    Err(Broken)
}
