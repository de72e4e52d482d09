//! Messages, from text and as text.

use alula_fields::{Field, FieldSection, Head};
use alula_machine::{ProtocolMachine, StreamKey};

/// A section with these fields.
///
/// # Panics
/// When one of them is not valid.
pub fn fields(pairs: &[(&str, &str)]) -> FieldSection {
    let mut fields = FieldSection::new();
    for (name, value) in pairs {
        fields.append(*name, value).expect("a good field");
    }
    fields
}

/// Takes a head that was announced.
///
/// # Panics
/// When there is none.
pub fn take_head(machine: &mut impl ProtocolMachine, stream: StreamKey) -> Head {
    let mut head = None;
    machine.exchange_head(stream, &mut head).expect("a head was announced");
    *head.unwrap_or_default()
}

/// Takes trailers that were announced.
///
/// # Panics
/// When there are none.
pub fn take_trailers(machine: &mut impl ProtocolMachine, stream: StreamKey) -> FieldSection {
    let mut trailers = FieldSection::new();
    machine.take_trailers(stream, &mut trailers).expect("trailers were announced");
    trailers
}

/// The control data and fields of a head, in one line.
pub fn show_head(head: &Head) -> String {
    let parts = [head.method(), head.protocol(), head.scheme(), head.authority(), head.path()];
    let mut text: Vec<String> = parts.into_iter().flatten().map(String::from).collect();
    text.extend(head.status().map(|status| status.as_u16().to_string()));
    text.join(" ") + &show_fields(&head.fields)
}

/// Each field as ` name=value`.
pub fn show_fields(fields: &FieldSection) -> String {
    let show =
        |field: Field<'_>| format!(" {}={}", field.name().as_str(), String::from_utf8_lossy(field.value()));
    fields.iter().map(show).collect()
}

/// Content as text if it is short, else its length.
pub fn show_content(bytes: &[u8]) -> String {
    match bytes.len() {
        0..=40 => String::from_utf8_lossy(bytes).into_owned(),
        len => format!("{len} bytes"),
    }
}
