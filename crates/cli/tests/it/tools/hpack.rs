//! `alula hpack pipe`, `encode` and `decode`.

use crate::support::{Folder, run, run_with};
use serde_json::{Value, json};

/// The answers to these lines.
fn pipe_lines(lines: &[&str]) -> Vec<Value> {
    let ended = run_with(&["hpack", "pipe"], (lines.join("\n") + "\n").as_bytes()).expect(0);
    assert!(ended.text().is_ascii());
    let answers: Vec<Value> =
        ended.text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(answers.len(), lines.len(), "one answer a line: {answers:#?}");
    answers
}

fn pipe(commands: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = commands.iter().map(Value::to_string).collect();
    pipe_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The string of these bytes, as Latin-1.
fn latin1(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(char::from).collect()
}

#[test]
fn the_examples_of_the_rfc_come_out_byte_by_byte() {
    // RFC 7541 §C.4 (with Huffman coding) and §C.3 (without), each on one connection.
    let lists = [
        json!([[":method", "GET"], [":scheme", "http"], [":path", "/"], [":authority", "www.example.com"]]),
        json!([
            [":method", "GET"],
            [":scheme", "http"],
            [":path", "/"],
            [":authority", "www.example.com"],
            ["cache-control", "no-cache"]
        ]),
        json!([
            [":method", "GET"],
            [":scheme", "https"],
            [":path", "/index.html"],
            [":authority", "www.example.com"],
            ["custom-key", "custom-value"]
        ]),
    ];
    let with = [
        "828684418cf1e3c2e5f23a6ba0ab90f4ff",
        "828684be5886a8eb10649cbf",
        "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
    ];
    let without = [
        "828684410f7777772e6578616d706c652e636f6d",
        "828684be58086e6f2d6361636865",
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
    ];
    for (huffman, blocks) in [(true, with), (false, without)] {
        let mut commands = vec![json!({"op": "new"})];
        for (list, block) in lists.iter().zip(blocks) {
            commands.push(json!({"op": "enc", "headers": list, "policy": "always", "huffman": huffman}));
            commands.push(json!({"op": "dec", "hex": block}));
        }
        let answers = pipe(&commands);
        assert_eq!(answers[0], json!({"ok": true}));
        for (at, (list, block)) in lists.iter().zip(blocks).enumerate() {
            assert_eq!(answers[1 + 2 * at], json!({"hex": block}), "huffman {huffman}");
            assert_eq!(answers[2 + 2 * at], json!({"headers": list}));
        }
    }
}

#[test]
fn every_byte_passes_through() {
    let headers = json!([
        [latin1(0..=255), latin1((0..=255).rev())],
        ["", ""],
        ["x-\"quoted\\\"", "\r\n\u{0}\u{7f}\u{ff}"],
        ["X-Upper", " spaces "],
    ]);
    for huffman in [true, false] {
        for policy in ["static", "always", "repeat", "never", "index", "without"] {
            let encode = json!({"op": "enc", "headers": headers, "policy": policy, "huffman": huffman});
            let blocks = pipe(&[encode.clone(), encode.clone(), encode]);
            let decode = blocks.iter().map(|answer| json!({"op": "dec", "hex": answer["hex"]}));
            for answer in pipe(&decode.collect::<Vec<_>>()) {
                assert_eq!(answer, json!({"headers": headers}), "{policy} {huffman}");
            }
        }
    }
}

#[test]
fn policies_and_sensitive_fields_show_on_the_wire() {
    let enc = |rest: Value| {
        let mut command = json!({"op": "enc", "headers": [["x", "y"]], "huffman": false});
        command.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        command
    };
    let hex = |commands: &[Value]| -> Vec<String> {
        pipe(commands).iter().map(|answer| answer["hex"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let (indexed, incremental, without, never) = ("be", "4001780179", "0001780179", "1001780179");
    assert_eq!(hex(&[enc(json!({})), enc(json!({})), enc(json!({}))]), [without, incremental, indexed]);
    for policy in ["always", "index"] {
        assert_eq!(
            hex(&[enc(json!({"policy": policy})), enc(json!({"policy": policy}))]),
            [incremental, indexed]
        );
    }
    for (policy, block) in [("static", without), ("without", without), ("never", never)] {
        assert_eq!(
            hex(&[enc(json!({"policy": policy})), enc(json!({"policy": policy}))]),
            [block, block],
            "{policy}"
        );
    }
    for sensitive in [json!(["x"]), json!([0])] {
        assert_eq!(hex(&[enc(json!({"policy": "always", "sensitive": sensitive}))]), [never]);
    }
    assert_eq!(hex(&[enc(json!({"policy": "always", "sensitive": ["z", 1]}))]), [incremental]);
}

#[test]
fn a_limit_holds_in_both_directions() {
    let enc = json!({"op": "enc", "headers": [["x", "y"]], "policy": "always", "huffman": false});
    let answers = pipe(&[
        json!({"op": "limit", "n": 0}),
        enc.clone(),
        json!({"op": "dec", "hex": "82"}),
        json!({"op": "new"}),
        json!({"op": "limit", "n": 8192}),
        enc,
        json!({"op": "dec", "hex": "3fe13f82"}),
        json!({"op": "dec", "hex": "3fe23f82"}),
    ]);
    assert_eq!(answers[1], json!({"hex": "200001780179"}), "the size update, then no entry");
    assert!(
        answers[2]["error"].as_str().unwrap().contains("RFC 7541 §4.2"),
        "the update is owed: {}",
        answers[2]
    );
    assert_eq!(answers[5], json!({"hex": "3fe13f4001780179"}));
    assert_eq!(answers[6], json!({"headers": [[":method", "GET"]]}));
    assert!(answers[7]["error"].as_str().unwrap().contains("above the limit"), "{}", answers[7]);
}

#[test]
fn what_is_wrong_is_answered_and_the_process_lives_on() {
    let wrong = [
        "",
        "not json",
        "[]",
        "7",
        "{}",
        r#"{"op":"nothing"}"#,
        r#"{"op":7}"#,
        r#"{"op":"limit"}"#,
        r#"{"op":"limit","n":-1}"#,
        r#"{"op":"limit","n":4294967296}"#,
        r#"{"op":"dec"}"#,
        r#"{"op":"dec","hex":"8"}"#,
        r#"{"op":"dec","hex":"zz"}"#,
        r#"{"op":"dec","hex":"80"}"#,
        r#"{"op":"dec","hex":"ff"}"#,
        r#"{"op":"dec","hex":"c0"}"#,
        r#"{"op":"dec","hex":"40"}"#,
        r#"{"op":"dec","hex":"823fe11f"}"#,
        r#"{"op":"enc"}"#,
        r#"{"op":"enc","headers":[["a"]]}"#,
        r#"{"op":"enc","headers":[["a",1]]}"#,
        r#"{"op":"enc","headers":[["a","\u0100"]]}"#,
        r#"{"op":"enc","headers":[],"policy":"sometimes"}"#,
        r#"{"op":"enc","headers":[],"huffman":1}"#,
        r#"{"op":"enc","headers":[],"sensitive":"a"}"#,
        r#"{"op":"enc","headers":[],"sensitive":[null]}"#,
    ];
    let fine = r#"{"op":"dec","hex":"82"}"#;
    let lines: Vec<&str> = wrong.iter().flat_map(|line| [*line, fine]).collect();
    for (line, answers) in wrong.iter().zip(pipe_lines(&lines).chunks(2)) {
        let error = answers[0]["error"].as_str();
        assert!(error.is_some_and(|error| !error.is_empty()), "{line}: {}", answers[0]);
        assert_eq!(answers[1], json!({"headers": [[":method", "GET"]]}), "after {line}");
    }
}

#[test]
fn a_line_of_any_bytes_is_answered() {
    let ended = run_with(&["hpack", "pipe"], b"\xff\xfe{\"op\":\"new\"}\n{\"op\":\"new\"}").expect(0);
    let lines: Vec<&str> = ended.text().lines().collect();
    assert!(lines[0].starts_with("{\"error\":"), "{}", lines[0]);
    assert_eq!(lines[1..], ["{\"ok\":true}"]);
}

fn story() -> Value {
    json!({"description": "two lists, then a smaller table", "cases": [
        {"seqno": 0, "header_table_size": 4096, "headers": [{":method": "GET"}, {"x-é": "one"}]},
        {"seqno": 1, "headers": [{":method": "GET"}, {"x-é": "one"}]},
        {"seqno": 2, "header_table_size": 64, "headers": [{"x-é": "one"}, {"x-é": "one"}, {"": ""}]},
    ]})
}

#[test]
fn a_story_encoded_is_the_story_decoded() {
    let folder = Folder::new("stories");
    let plain = folder.write("plain.json", story().to_string());
    let encoded = run(&["hpack", "encode", &plain]).expect(0);
    let encoded: Value = serde_json::from_str(encoded.text()).unwrap();
    assert_eq!(encoded["description"], story()["description"]);
    let wires: Vec<&str> =
        encoded["cases"].as_array().unwrap().iter().map(|case| case["wire"].as_str().unwrap()).collect();
    assert!(wires.iter().all(|wire| !wire.is_empty() && wire.len() % 2 == 0));
    assert!(wires[2].starts_with("3f21"), "the size update to 64: {wires:?}");

    // What was given is compared; what was not is filled in.
    run_with(&["hpack", "decode"], encoded.to_string().as_bytes()).expect(0);
    let mut wire_only = encoded.clone();
    for case in wire_only["cases"].as_array_mut().unwrap() {
        case.as_object_mut().unwrap().remove("headers");
    }
    let wire_only = folder.write("wire.json", wire_only.to_string());
    let decoded = run(&["hpack", "decode", &wire_only]).expect(0);
    assert_eq!(serde_json::from_str::<Value>(decoded.text()).unwrap(), encoded);

    let both = run(&["hpack", "decode", &wire_only, &wire_only]).expect(0);
    assert_eq!(both.text(), decoded.text().repeat(2), "one story after the other");
}

#[test]
fn a_story_that_differs_says_where() {
    let folder = Folder::new("differs");
    let headers = |value: &str| json!([{":method": "GET"}, {"a": value}]);
    let wire = "820001610131";
    for (given, code, words) in [
        (headers("1"), 0, ""),
        (headers("2"), 8, "case 7: field 1: the wire says \"a: 1\", the headers say \"a: 2\""),
        (json!([{":method": "GET"}]), 8, "field 1: the wire says \"a: 1\", the headers say nothing"),
        (json!([{":method": "GET"}, {"a": "1"}, {"b": "2"}]), 8, "field 2: the wire says nothing"),
        (json!({}), 1, "\"headers\" must be a list"),
        (json!([{"a": "1", "b": "2"}]), 1, "a header is {\"name\":\"value\"}"),
    ] {
        let story = json!({"cases": [{"seqno": 7, "wire": wire, "headers": given}]});
        let file = folder.write("story.json", story.to_string());
        let ended = run(&["hpack", "decode", &file]).expect(code);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        assert!(code == 0 || ended.stderr.contains(&file) && ended.stdout.is_empty(), "{}", ended.stderr);
    }
}

#[test]
fn a_story_that_cannot_be_used_says_why() {
    for (command, story, code, words) in [
        ("decode", "no json", 1, "stdin: expected"),
        ("decode", "{}", 1, "a story is an object"),
        ("decode", r#"{"cases":[7]}"#, 1, "case 0: a case is an object"),
        ("decode", r#"{"cases":[{}]}"#, 1, "\"wire\" must be"),
        (
            "decode",
            r#"{"cases":[{"wire":"82"},{"wire":"80"}]}"#,
            5,
            "case 1: the wire has an indexed field with index 0",
        ),
        ("decode", r#"{"cases":[{"wire":"82","header_table_size":-1}]}"#, 1, "\"header_table_size\" must be"),
        ("encode", r#"{"cases":[{"wire":"82"}]}"#, 1, "there are no \"headers\""),
        ("encode", r#"{"cases":[{"headers":[{"a":"\u0100"}]}]}"#, 1, "up to U+00FF"),
    ] {
        let ended = run_with(&["hpack", command], story.as_bytes()).expect(code);
        assert!(ended.stderr.contains(words), "{story}: {}", ended.stderr);
    }
    assert!(run(&["hpack", "decode", "/no such file"]).expect(1).stderr.contains("/no such file"));
}
