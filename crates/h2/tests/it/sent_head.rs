//! The field section that was sent last, as it is on the wire.

use alula_fields::{FieldSection, RequestHead};
use alula_h2::{Config, Connection};
use alula_machine::OutBuf;

fn request<'a>(path: &'a str, fields: &'a FieldSection) -> RequestHead<'a> {
    RequestHead { method: "GET", scheme: "http", authority: "a", path, protocol: None, fields }
}

#[test]
fn each_head_that_is_wanted_is_read_back_from_its_block() {
    let mut client = Connection::client(Config::default());
    let mut fields = FieldSection::new();
    fields.append("x-odd", " 1 ").unwrap();
    fields.append_sensitive("authorization", "s").unwrap();
    let mut out = OutBuf::new();
    // Some are made of references to what others entered into the table, also while nothing was kept.
    for (path, is_kept) in
        [("/one", false), ("/one", true), ("/two", true), ("/two", false), ("/two", true), ("/one", true)]
    {
        if is_kept {
            client.keep_sent_head();
        }
        client.send_request(&request(path, &fields), true, &mut out).unwrap();
        let pseudo = format!(":method: GET\r\n:scheme: http\r\n:authority: a\r\n:path: {path}\r\n");
        let expected = if is_kept { pseudo + "x-odd: 1\r\nauthorization: s\r\n" } else { String::new() };
        assert_eq!(String::from_utf8(client.take_sent_head()).unwrap(), expected);
    }
    // One that takes CONTINUATION frames (RFC 9113 §6.10).
    let long = "~".repeat(40_000);
    fields.append("x-long", &long).unwrap();
    client.keep_sent_head();
    client.send_request(&request("/", &fields), true, &mut out).unwrap();
    assert!(client.take_sent_head().ends_with(format!("x-long: {long}\r\n").as_bytes()));
}
