//! A decoder as naive as can be: a list for a table, strings without Huffman code only.
#![allow(dead_code, unreachable_pub)]

use std::collections::VecDeque;

/// A field and whether it came as never to be indexed.
pub type Decoded = (Vec<u8>, Vec<u8>, bool);

/// The model.
pub struct Model {
    pub entries: VecDeque<(Vec<u8>, Vec<u8>)>,
    pub bytes_max: usize,
}

/// The static table by index, as any decoder gives it away.
fn static_entry(index: usize) -> (Vec<u8>, Vec<u8>) {
    let mut decoder = alula_hpack::Decoder::new(alula_hpack::DecoderLimits::default());
    let mut entry = None;
    let mut visit =
        |field: alula_hpack::Decoded<'_>| entry = Some((field.name.to_vec(), field.value.to_vec()));
    decoder.decode(&[0x80 | index as u8], true, &mut visit).unwrap();
    entry.unwrap()
}

impl Model {
    pub fn new(bytes_max: usize) -> Self {
        Self { entries: VecDeque::new(), bytes_max }
    }

    pub fn bytes(&self) -> usize {
        self.entries.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
    }

    pub fn decode(&mut self, mut block: &[u8]) -> Vec<Decoded> {
        let mut fields = Vec::new();
        while let Some(&first) = block.first() {
            match first {
                0x80.. => {
                    let (name, value) = self.entry(integer(&mut block, 7));
                    fields.push((name, value, false));
                }
                0x20..0x40 => {
                    self.bytes_max = integer(&mut block, 5);
                    self.evict();
                }
                _ => {
                    let index = integer(&mut block, if first >= 0x40 { 6 } else { 4 });
                    let name = if index == 0 { string(&mut block) } else { self.entry(index).0 };
                    let value = string(&mut block);
                    if first >= 0x40 {
                        self.entries.push_front((name.clone(), value.clone()));
                        self.evict();
                    }
                    fields.push((name, value, first & 0xf0 == 0x10));
                }
            }
        }
        fields
    }

    fn entry(&self, index: usize) -> (Vec<u8>, Vec<u8>) {
        if index <= 61 { static_entry(index) } else { self.entries[index - 62].clone() }
    }

    fn evict(&mut self) {
        while self.bytes() > self.bytes_max {
            self.entries.pop_back();
        }
    }
}

fn integer(block: &mut &[u8], prefix: u32) -> usize {
    let full = (1 << prefix) - 1;
    let mut value = usize::from(block[0]) & full;
    *block = &block[1..];
    let mut place = 0;
    while value >= full {
        let byte = block[0];
        *block = &block[1..];
        value += usize::from(byte & 0x7f) << place;
        place += 7;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn string(block: &mut &[u8]) -> Vec<u8> {
    assert!(block[0] < 0x80, "the model knows no Huffman code");
    let len = integer(block, 7);
    let (string, rest) = block.split_at(len);
    *block = rest;
    string.to_vec()
}
