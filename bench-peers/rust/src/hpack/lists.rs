//! The lists of `crates/testkit` in the cases of HPACK, and the blocks that decoders read.

use std::path::Path;

use alula_testkit::lists::{BROWSER, PATH, Pair, REQUEST_ID, VISITS, visit};
use alula_testkit::traffic::Traffic;

/// The lists of a case, a power of two of them, and the number of blocks after which the codec is renewed.
pub(crate) struct Case {
    pub(crate) lists: Vec<Vec<Pair>>,
    pub(crate) renew: usize,
}

impl Case {
    /// Case a, b, c, d, e, or a proxy's requests.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "a" => Self { lists: vec![BROWSER.to_vec()], renew: usize::MAX },
            "b" => Self { lists: (0..VISITS).map(visited).collect(), renew: usize::MAX },
            "c" => Self { lists: vec![BROWSER.to_vec()], renew: 1 },
            "d" => Self { lists: vec![BROWSER.to_vec()], renew: 100 },
            "e" => Self { lists: vec![front_page()], renew: usize::MAX },
            "proxied" => Self { lists: (0..VISITS).map(proxied).collect(), renew: usize::MAX },
            _ => panic!("no case {name}"),
        }
    }
}

fn proxied(number: usize) -> Vec<Pair> {
    let fields = Traffic::Proxied.request(number, "www.example.com").into_iter();
    fields.map(|(name, value)| (name, &*value.leak())).collect()
}

fn visited(number: usize) -> Vec<Pair> {
    let [path, id] = visit(number).map(|value| &*value.leak());
    let mut pairs = BROWSER;
    (pairs[PATH].1, pairs[REQUEST_ID].1) = (path, id);
    pairs.to_vec()
}

fn front_page() -> Vec<Pair> {
    let mut pairs = BROWSER;
    pairs[PATH].1 = "/";
    pairs.to_vec()
}

/// Blocks to decode in a row. Of a case whose blocks repeat there are two, and the second comes again and
/// again.
pub(crate) struct Blocks {
    blocks: Vec<Vec<u8>>,
    next: usize,
}

impl Blocks {
    /// From the file that `alula-bench export` has written: each block behind its length in two bytes.
    pub(crate) fn load(lists: &str, case: &str) -> Self {
        let file = Path::new(lists).join(format!("blocks-{case}"));
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let (mut rest, mut blocks) = (&bytes[..], Vec::new());
        while let Some((length, behind)) = rest.split_first_chunk() {
            let (block, next) = behind.split_at(u16::from_be_bytes(*length).into());
            blocks.push(block.to_vec());
            rest = next;
        }
        Self { blocks, next: 0 }
    }

    /// The same blocks, each as the payload of something.
    pub(crate) fn map(mut self, wrap: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        self.blocks.iter_mut().for_each(|block| *block = wrap(block));
        self
    }

    /// The next block.
    pub(crate) fn next(&mut self) -> &[u8] {
        let number = self.next;
        self.next = if number + 1 < self.blocks.len() { number + 1 } else { 1 };
        assert!(self.next > number || self.blocks.len() == 2, "there are not so many blocks");
        &self.blocks[number]
    }
}
