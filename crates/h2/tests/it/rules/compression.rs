//! What breaks field compression (RFC 7541): always the connection, whatever the block is for.

use super::table::Step::{Answer, In};
use super::table::{Case, Row, Rows, asked, given, many, one};
use crate::support::frame;
use crate::support::wire::*;

const BROKEN: &str = "GOAWAY 1 COMPRESSION_ERROR";

/// Blocks that cannot be decoded.
const BLOCKS: [(&str, &str, &[u8]); 18] = [
    ("index 0", "7541 §6.1", &[0x80]),
    ("an index beyond the static table", "7541 §2.3.3", &[0xbe]),
    ("a large index", "7541 §2.3.3", &[0xff, 0x80, 0x01]),
    ("a name beyond the tables", "7541 §2.3.3", &[0x7e, 0x01, b'x']),
    ("an index of more than 32 bits", "7541 §5.1", &[0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    ("an index of too many bytes", "7541 §5.1", &[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
    ("a block that ends inside an index", "7541 §5.1", &[0xff]),
    ("a block that ends inside a longer index", "7541 §5.1", &[0xff, 0x80]),
    ("a block that ends inside a name", "7541 §5.2", &[0x40, 0x09]),
    ("a block that ends inside a value", "7541 §5.2", &[0x40, 0x01, b'x', 0x03, b'y']),
    ("a block that ends before a value", "7541 §6.2", &[0x40, 0x01, b'x']),
    ("a block that ends before a name", "7541 §6.2", &[0x40]),
    ("Huffman padding longer than seven bits", "7541 §5.2", &[0x40, 0x81, 0xff, 0x00]),
    ("Huffman padding of zeros", "7541 §5.2", &[0x40, 0x81, 0x00, 0x00]),
    ("the end-of-string symbol", "7541 §5.2", &[0x40, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00]),
    ("a table size above the limit", "7541 §6.3", &[0x3f, 0xe2, 0x1f]),
    ("a table size after a field", "7541 §4.2", &[0x82, 0x20]),
    ("three table sizes", "7541 §4.2", &[0x20, 0x20, 0x20]),
];

pub(crate) fn tables() -> Vec<Rows> {
    let case = |stimulus: &str, section, steps, told: &str| Case {
        stimulus: stimulus.into(),
        section,
        steps,
        told: vec![told.into()],
        log: "",
    };
    let requests = BLOCKS
        .iter()
        .map(|(stimulus, section, block)| case(stimulus, section, one(headers(END, 1, block)), BROKEN));
    let responses = BLOCKS.iter().map(|(stimulus, section, block)| {
        case(stimulus, section, asked("GET", &[headers(END, 1, block)]), "GOAWAY 0 COMPRESSION_ERROR")
    });
    vec![
        Rows { subject: "server, compression", make: server, rows: requests.collect() },
        Rows { subject: "client, compression", make: client, rows: responses.collect() },
        Rows::new("server, compression of other blocks", server, others()),
    ]
}

fn others() -> Vec<Row> {
    let get = get();
    vec![
        ("trailers", "7541 §6.1", many(&[headers(0, 1, &get), headers(END, 1, &[0x80])]), BROKEN, "index 0"),
        given(
            "CONTINUATION",
            "7541 §6.1",
            many(&[frame(HEADERS, END, 1, &get), frame(CONTINUATION, END_HEADERS, 1, &[0x80])]),
        )
        .then(BROKEN, "index 0"),
        given(
            "a request that breaks a rule before",
            "7541 §6.1",
            one(headers(END, 1, &[&request("GET", &[("X", "y")])[..], &[0x80]].concat())),
        )
        .then(BROKEN, "index 0"),
        given(
            "a request on a stream that was reset",
            "7541 §6.1",
            many(&[headers(0, 1, &get), u32_frame(RST_STREAM, 1, 8), headers(END, 1, &[0x80])]),
        )
        .then(BROKEN, "index 0"),
        given(
            "a table size at the start",
            "7541 §4.2",
            vec![In(headers(END, 1, &[&[0x3f, 0xe1, 0x1f][..], &get].concat())), Answer],
        )
        .then("", "head GET"),
        given(
            "table sizes down and up",
            "7541 §4.2",
            one(headers(END, 1, &[&[0x20, 0x3f, 0xe1, 0x1f][..], &get].concat())),
        )
        .then("", "head GET"),
        given(
            "fields of a request that breaks a rule are kept in the table",
            "7541 §2.2",
            vec![In([
                headers(END, 1, &[&get[..], &[0x40, 1, b'X', 1, b'y'], &[0x40, 1, b'a', 1, b'b']].concat()),
                headers(END, 3, &[&get[..], &[0xbe]].concat()),
            ]
            .concat())],
        )
        .then("RST_STREAM 1 PROTOCOL_ERROR", "a=b"),
    ]
}
