//! Recordings: complete, cut off, and random.

use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn explained(recorded: &[&[u8]], show: ShowArgs) -> (String, usize) {
    let (mut lines, mut text) = (Lines::default(), String::new());
    let recorded = recorded.iter().filter_map(|bytes| input::read(bytes).ok()).collect();
    let mut write = |more: String| {
        text.push_str(&more);
        Ok(())
    };
    explain(recorded, &show, &mut lines, &mut write).unwrap();
    (text, lines.faults())
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat()
}

/// A client's side with each kind of frame.
fn client() -> Vec<u8> {
    [
        PREFACE,
        &frame(4, 0, 0, &[0, 1, 0, 0, 0x10, 0, 0, 0x99, 0, 0, 0, 1]),
        &frame(4, 1, 0, &[]),
        &frame(1, 0x25, 1, b"\x80\0\0\x03\x0f\x82\x84\x86\x41\x09localhost\x40\x03x-a\x01b\x50\x82\xca\x4f"),
        &frame(1, 0x8, 3, b"\x02\x82\x84\0\0"),
        &frame(9, 0x4, 3, b"\x10\x0dauthorization\x0cBearer s3cre\xbe"),
        &frame(0, 0x9, 3, b"\x01ab\0"),
        &frame(2, 0, 5, b"\0\0\0\x01\xff"),
        &frame(3, 0, 3, &[0, 0, 0, 8]),
        &frame(6, 0, 0, b"\0\0\0\0\0\0\0\x2a"),
        &frame(8, 0, 0, &[0, 0, 1, 0]),
        &frame(0x16, 0xff, 7, b"odd"),
        &frame(7, 0, 0, b"\0\0\0\x02\0\0\0\x0bslow\x1b\n"),
    ]
    .concat()
}

const EXPLAINED: &str = "\
>      0  preface
>     24  SETTINGS stream=0 length=12
>           HEADER_TABLE_SIZE=4096
>           0x0099=1
>     45  SETTINGS stream=0 length=0 ACK
>     54  HEADERS stream=1 length=30 END_STREAM END_HEADERS PRIORITY
>           depends-on=3 weight=16 exclusive
>           :method: GET  <- 82: index 2 (static)
>           :path: /  <- 84: index 4 (static)
>           :scheme: http  <- 86: index 6 (static)
>           :authority: localhost  <- 41 09 6c 6f 63 61 6c 68 6f 73 74: entered into the table, name of index 1 (static), value of 9 bytes
>           x-a: b  <- 40 03 78 2d 61 01 62: entered into the table, name of 3 bytes, value of 1 byte
";

#[test]
fn each_frame_and_field_has_a_line() {
    let (text, faults) = explained(&[&client()], ShowArgs::default());
    assert_eq!(faults, 0, "{text}");
    assert!(text.starts_with(EXPLAINED), "{text}");
    for line in [
        "\n>           table: 3 entries, ",
        "\n>           authorization: Bearer …  <- 10 0d 61 75 74 68 6f 72 69 7a 61 74 69 6f 6e 0c …: never to be entered, name of 13 bytes, value of 12 bytes\n",
        "  DATA stream=3 length=4 END_STREAM PADDED\n",
        "\n>           depends-on=1 weight=256\n",
        "  RST_STREAM stream=3 length=4 code=CANCEL\n",
        "  PING stream=0 length=8 payload=000000000000002a\n",
        "  WINDOW_UPDATE stream=0 length=4 increment=256\n",
        "  UNKNOWN(0x16) stream=7 length=3\n",
        "  GOAWAY stream=0 length=14 last=2 code=ENHANCE_YOUR_CALM\n>           debug=slow\\x1b\\n\n",
    ] {
        assert!(text.contains(line), "{line:?}: {text}");
    }
}

#[test]
fn secrets_and_tables_are_shown_on_demand() {
    let show = ShowArgs { table: true, show_secrets: true };
    let (text, _) = explained(&[&client()], show);
    assert!(text.contains("authorization: Bearer s3cre  <- "), "{text}");
    assert!(text.contains("\n>             64  :authority: localhost\n"), "{text}");
    let (text, _) = explained(&[&client()], ShowArgs { table: true, show_secrets: false });
    assert!(!text.contains("s3cre") && !text.contains("73 33 63"), "{text}");
}

#[test]
fn all_forms_of_a_recording_say_the_same() {
    let bytes = client();
    let (expected, _) = explained(&[&bytes], ShowArgs::default());
    let pairs = |bytes: &[u8]| lines::hex(bytes);
    let plain = bytes.chunks(30).map(|line| pairs(line).replace(' ', "") + "\n").collect::<String>();
    let text = |bytes: &[u8]| -> String {
        bytes.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }).collect()
    };
    let numbered = || bytes.chunks(16).enumerate().map(|(number, line)| (16 * number, line));
    let xxd: String = numbered()
        .map(|(at, line)| {
            let groups: Vec<_> = line.chunks(2).map(|pair| pairs(pair).replace(' ', "")).collect();
            format!("{at:08x}: {:<39}  {}\n", groups.join(" "), text(line))
        })
        .collect();
    let hexdump: String = numbered()
        .map(|(at, line)| {
            let (first, second) = line.split_at(line.len().min(8));
            format!("{at:08x}  {:<23}  {:<23}  |{}|\n", pairs(first), pairs(second), text(line))
        })
        .collect();
    let hexdump = format!("{hexdump}{:08x}\n", bytes.len());
    let trace: String =
        numbered().map(|(at, line)| format!("{at:04x}: {:<47} {}\n", pairs(line), text(line))).collect();
    let trace = format!("== Info: connected\n=> Send data, {} bytes (0x0)\n{trace}", bytes.len());
    for form in [plain, xxd, hexdump, trace] {
        let (text, faults) = explained(&[form.as_bytes()], ShowArgs::default());
        assert_eq!((text, faults), (expected.clone(), 0), "{form}");
    }
}

#[test]
fn directions_are_told_apart_by_lines_prefaces_and_order() {
    let settings = frame(4, 0, 0, &[]);
    let both = [&[PREFACE, &settings].concat()[..], &settings];
    let expected =
        ">      0  preface\n>     24  SETTINGS stream=0 length=0\n<      0  SETTINGS stream=0 length=0\n";
    assert_eq!(explained(&both, ShowArgs::default()).0, expected);
    let turned = [both[1], both[0]];
    assert!(explained(&turned, ShowArgs::default()).0.starts_with("<      0  SETTINGS"));
    let neither = [&settings[..], &settings];
    assert_eq!(
        explained(&neither, ShowArgs::default()).0,
        ">      0  SETTINGS stream=0 length=0\n<      0  SETTINGS stream=0 length=0\n"
    );
    let [client, server] = both.map(lines::hex);
    let (first, second) = client.split_at(60);
    let trace = format!("=> a\n{first}\n<= b\n{server}\n=> c\n{second}\n");
    let (text, _) = explained(&[trace.as_bytes()], ShowArgs::default());
    assert_eq!(
        text,
        "<      0  SETTINGS stream=0 length=0\n>      0  preface\n>     24  SETTINGS stream=0 length=0\n"
    );
}

/// A block that is lost may have entered fields: what an index means after it is not known.
#[test]
fn the_table_is_unknown_after_a_block_that_is_lost() {
    for lost in [
        &[frame(1, 0, 3, b"\x40\x03x-b\x01b")][..],
        &[frame(1, 0, 3, b"\x40\x03x-b\x01b"), frame(1, 0x4, 5, b"\x82")],
        &[frame(1, 0xc, 3, b"\x09\x40")],
        &[frame(9, 0x4, 3, b"\x40\x03x-b\x01b")],
    ] {
        let first = frame(1, 0x4, 1, b"\x40\x03x-a\x01a");
        let last = [frame(6, 0, 0, &[0; 8]), frame(1, 0x4, 7, b"\xbe")].concat();
        let (text, faults) = explained(&[&[first, lost.concat(), last].concat()], ShowArgs::default());
        assert_eq!((faults, text.matches("x-a: a").count()), (2, 1), "{text}");
    }
}

#[test]
fn faults_are_said_and_stop_nothing() {
    for (bytes, fault) in [
        (
            frame(1, 0x4, 1, b"\x80"),
            "the header block is malformed: an indexed field with index 0 (RFC 7541 §6.1)",
        ),
        (frame(1, 0x4, 1, b"\xbe"), "the header block is malformed: "),
        (frame(1, 0xc, 1, b"\x09\x82"), "its padding is longer than it is (RFC 9113 §6.1)"),
        (frame(9, 0x4, 1, b"\x82"), "there is no header block to go on with (RFC 9113 §6.10)"),
        (frame(1, 0, 1, b"\x82"), "the header block of stream 1 is not whole (RFC 9113 §4.3)"),
        (frame(4, 0, 0, b"\0"), "its length is no multiple of six (RFC 9113 §6.5)"),
        (frame(7, 0, 0, b"\0"), "it is too short"),
        (frame(5, 0x4, 1, b"\0"), "it is too short"),
        (frame(2, 0, 1, b"\0"), "it is too short"),
        (frame(1, 0x24, 1, b"\0"), "it is too short"),
    ] {
        let bytes = [&bytes[..], &frame(6, 0, 0, &[0; 8]), &frame(1, 0x4, 3, b"\x82")].concat();
        let (text, faults) = explained(&[&bytes], ShowArgs::default());
        assert_eq!(faults, 1, "{text}");
        assert!(text.contains(fault) && text.contains("  PING ") && text.contains(":method: GET"), "{text}");
    }
    for (recorded, sentence) in [
        (&b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..], "this is HTTP/1.1, which has no frames"),
        (b"HTTP/1.1 200 OK\r\n\r\n\0", "this is HTTP/1.1, which has no frames"),
        (b"\x16\x03\x01\0\0", "these are records of TLS, not what is inside them"),
        (b"0000: 50\nnothing\n", "line 2 has something else than hexadecimal digits"),
        (b"123", "line 1 has something else than hexadecimal digits"),
    ] {
        assert_eq!(input::read(recorded).unwrap_err(), sentence);
    }
}

#[test]
fn a_recording_may_end_anywhere() {
    let bytes = client();
    let (whole, _) = explained(&[&bytes], ShowArgs::default());
    for end in 0..bytes.len() {
        let (text, _) = explained(&[&bytes[..end]], ShowArgs::default());
        let frames = text.lines().take_while(|line| !line.starts_with('!')).collect::<Vec<_>>().join("\n");
        assert!(whole.starts_with(&frames) || end < 24, "{end}: {text}");
    }
}

#[test]
fn random_bytes_are_explained_without_a_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let valid = client();
    for round in 0..3000 {
        let bytes: Vec<u8> = match round % 3 {
            // Frames of random content, so that payloads and blocks are reached.
            0 => (0..8)
                .flat_map(|_| {
                    let payload: Vec<u8> = (0..random() % 40).map(|_| random() as u8).collect();
                    frame(random() as u8 % 12, random() as u8, random() as u32 % 4, &payload)
                })
                .collect(),
            1 => (0..random() % 300).map(|_| random() as u8).collect(),
            _ => {
                let mut bytes = valid.clone();
                for _ in 0..4 {
                    let at = random() as usize % bytes.len();
                    bytes[at] = random() as u8;
                }
                bytes
            }
        };
        let (text, _) = explained(&[&bytes], ShowArgs { table: true, show_secrets: round % 2 == 0 });
        assert!(!text.contains(|it: char| it.is_control() && it != '\n'), "{round}: {text:?}");
        // As text, which most of these are not, it is refused or read.
        let digits: Vec<u8> = bytes.iter().map(|byte| b" :|=<>09afg\n"[usize::from(byte % 12)]).collect();
        let _ = input::read(&digits);
    }
}
