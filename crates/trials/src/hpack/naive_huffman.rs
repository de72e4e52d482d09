//! The Huffman code of RFC 7541 Appendix B read bit by bit, by a tree.

use std::sync::OnceLock;

use alula_hpack::{Encoder, EncoderConfig, Field, Huffman, Indexing};
use alula_machine::OutBuf;

/// Decodes a string, or says that it breaks a rule (RFC 7541 §5.2).
pub(crate) fn decode(coded: &[u8]) -> Option<Vec<u8>> {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(Tree::new).decode(coded)
}

/// Codes a string with an encoder that always uses the code.
pub(crate) fn encode(plain: &[u8]) -> Vec<u8> {
    let config = EncoderConfig { huffman: Huffman::Always, ..EncoderConfig::default() };
    let mut out = OutBuf::new();
    Encoder::new(config).encode([Field::new(b"", plain).with(Indexing::Without)], &mut out);
    // The byte of the form, the empty name, and the length of the value, an integer with a prefix of seven
    // bits.
    let value = &out.unsent()[2..];
    let length_bytes = match value[0] & 0x7f {
        0x7f => 2 + value[1..].iter().take_while(|&&byte| byte >= 0x80).count(),
        _ => 1,
    };
    value[length_bytes..].to_vec()
}

struct Tree(Vec<Node>);

#[derive(Clone, Copy)]
enum Node {
    Nothing,
    Leaf(u8),
    Inner([usize; 2]),
}

impl Tree {
    /// The tree of the code words, which an encoder gives away: eight times the same byte take as many
    /// bytes as its code word has bits, and begin with it.
    fn new() -> Self {
        let mut tree = Self(vec![Node::Inner([1, 2]), Node::Nothing, Node::Nothing]);
        for byte in 0..=255 {
            let coded = encode(&[byte; 8]);
            tree.insert(byte, &coded, coded.len());
        }
        tree
    }

    fn insert(&mut self, byte: u8, code: &[u8], len: usize) {
        let mut at = 0;
        for bit in bits(code).take(len) {
            at = self.child_or_new(at, bit);
        }
        assert!(matches!(self.0[at], Node::Nothing), "two bytes have one code word");
        self.0[at] = Node::Leaf(byte);
    }

    fn child_or_new(&mut self, at: usize, bit: usize) -> usize {
        let next = self.0.len();
        match self.0[at] {
            Node::Inner(children) => children[bit],
            Node::Leaf(byte) => panic!("the code word of {byte} begins another"),
            Node::Nothing => {
                self.0[at] = Node::Inner([next, next + 1]);
                self.0.extend([Node::Nothing; 2]);
                next + bit
            }
        }
    }

    fn decode(&self, coded: &[u8]) -> Option<Vec<u8>> {
        let (mut plain, mut at, mut padding, mut is_ones) = (Vec::new(), 0, 0, true);
        for bit in bits(coded) {
            let Node::Inner(children) = self.0[at] else {
                unreachable!("the walk stops at inner nodes only")
            };
            (at, padding, is_ones) = (children[bit], padding + 1, is_ones && bit == 1);
            match self.0[at] {
                Node::Inner(_) => {}
                Node::Leaf(byte) => {
                    plain.push(byte);
                    (at, padding, is_ones) = (0, 0, true);
                }
                // The one word that no byte has is the end of the string, which must not come.
                Node::Nothing => return None,
            }
        }
        (padding < 8 && is_ones).then_some(plain)
    }
}

fn bits(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.iter().flat_map(|&byte| (0..8).rev().map(move |place| usize::from(byte >> place & 1)))
}
