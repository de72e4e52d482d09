//! Control data set in any order and again and again, against five options.

use alula_fields::{Authority, Head, KnownName, Method, Scheme, Status, bytes};

use crate::input::Input;

/// Bytes as operations on a head.
pub fn head(data: &[u8]) {
    let (mut input, mut head, mut model) = (Input::new(data), Head::new(), Model::default());
    let mut kept = Head::new();
    while !input.is_empty() {
        match input.below(9) {
            5 => set_status(&mut input, &mut head, &mut model),
            6 => {
                head.clear();
                model = Model::default();
            }
            7 => {
                kept.copy_from(&head);
                std::mem::swap(&mut kept, &mut head);
            }
            8 => head.trim(input.below(64)),
            part => set_text(part, &input.text(), &mut head, &mut model),
        }
        compare(&head, &model);
    }
}

#[derive(Default)]
struct Model {
    texts: [Option<String>; 5],
    status: Option<u16>,
}

const PSEUDO: [KnownName; 5] = [
    KnownName::PSEUDO_METHOD,
    KnownName::PSEUDO_SCHEME,
    KnownName::PSEUDO_AUTHORITY,
    KnownName::PSEUDO_PATH,
    KnownName::PSEUDO_PROTOCOL,
];

fn set_text(part: usize, text: &str, head: &mut Head, model: &mut Model) {
    let (result, is_valid) = match part {
        0 => (head.set_method(text), Method::parse(text).is_ok()),
        1 => (head.set_scheme(text), Scheme::parse(text).is_ok()),
        2 => (head.set_authority(text), Authority::parse(text).is_ok()),
        3 => (head.set_path(text), is_path(text)),
        _ => (head.set_protocol(text), Method::parse(text).is_ok()),
    };
    assert_eq!(result.is_ok(), is_valid, "{part} {text:?}");
    if is_valid {
        model.texts[part] = Some(text.into());
    }
}

fn is_path(text: &str) -> bool {
    let visible = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
    assert_eq!(bytes::is_path(text.as_bytes()), text.bytes().all(visible));
    text == "*" || text.starts_with('/') && text.bytes().all(visible)
}

fn set_status(input: &mut Input<'_>, head: &mut Head, model: &mut Model) {
    if let Some(status) = Status::new(input.u16() % 1024) {
        head.set_status(status);
        model.status = Some(status.as_u16());
    }
}

fn compare(head: &Head, model: &Model) {
    let texts = [head.method(), head.scheme(), head.authority(), head.path(), head.protocol()];
    assert!(texts.into_iter().eq(model.texts.iter().map(Option::as_deref)), "{head:?}");
    assert_eq!(head.status().map(Status::as_u16), model.status);
    for (name, text) in PSEUDO.into_iter().zip(&model.texts) {
        assert_eq!(head.pseudo(name), text.as_deref().map(str::as_bytes));
        assert_eq!(head.has_pseudo(name), text.is_some());
    }
    let _ = format!("{head:?}");
}
