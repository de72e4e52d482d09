//! Operations on a section of fields and on a list of pairs, compared after each.

use alula_fields::{FieldSection, KnownName};

use crate::input::Input;

/// Bytes as operations.
pub fn field_section(data: &[u8]) {
    let mut input = Input::new(data);
    let (mut section, mut model) = (FieldSection::new(), Model::default());
    let (mut kept, mut kept_model) = (FieldSection::new(), Model::default());
    while !input.is_empty() {
        let operation = input.below(16);
        let name = name(&mut input);
        match operation {
            0 => {
                let value = input.string();
                assert_eq!(section.set(&*name, value).is_ok(), model.set(&name, value));
            }
            1 => assert_eq!(section.remove(&*name), model.remove(&name)),
            2 => {
                (kept, kept_model) = (section.clone(), model.clone());
                section.clear();
                model.0.clear();
            }
            3 => {
                std::mem::swap(&mut section, &mut kept);
                std::mem::swap(&mut model, &mut kept_model);
            }
            4 => {
                section.merge(&kept);
                model.merge(&kept_model);
            }
            // An input of a hundred bytes must not double a section a hundred times.
            5 if section.len() < 1000 => {
                section.extend_from(&kept);
                model.0.extend(kept_model.0.iter().cloned());
            }
            6 => {
                let len = input.below(16);
                let removed = section.retain(|field| field.value().len() != len);
                assert_eq!(removed, model.retain(|(_, value)| value.len() != len));
            }
            7 => {
                let len = input.below(model.0.len() + 2);
                section.truncate(len);
                model.0.truncate(len);
            }
            8 => section.trim(input.below(2048)),
            9 => {
                kept.copy_from(&section);
                kept_model = model.clone();
                assert_eq!(kept, section);
            }
            10 => {
                let value = input.string();
                assert_eq!(section.append_spelled(&name, value).is_ok(), model.append(&name, value));
            }
            11 => {
                let value = input.string();
                assert_eq!(section.append_sensitive(&*name, value).is_ok(), model.append(&name, value));
            }
            _ => {
                let value = input.string();
                assert_eq!(section.append(&*name, value).is_ok(), model.append(&name, value), "{name:?}");
            }
        }
        compare(&section, &model, &name);
        assert_eq!(section == kept, model == kept_model);
    }
}

/// Known and unknown names from a small choice, so that they meet, in both cases; or any text.
fn name(input: &mut Input<'_>) -> String {
    let choice = input.byte();
    let name = match usize::from(choice & 0x7f) {
        0 => return input.text(),
        own @ 1..=9 => format!("x-{own}"),
        id => match KnownName::from_id((id % 24) as u8 + 1) {
            Some(name) => name.as_str().into(),
            None => String::new(),
        },
    };
    if choice & 0x80 == 0 { name } else { name.to_ascii_uppercase() }
}

/// Lower-case names and values in order; every operation is the obvious loop.
#[derive(Clone, Default, PartialEq)]
struct Model(Vec<(String, Vec<u8>)>);

impl Model {
    fn append(&mut self, name: &str, value: &[u8]) -> bool {
        let is_valid = Self::is_valid(name, value);
        if is_valid {
            self.0.push((name.to_ascii_lowercase(), value.to_vec()));
        }
        is_valid
    }

    fn set(&mut self, name: &str, value: &[u8]) -> bool {
        if Self::is_valid(name, value) {
            self.remove(name);
        }
        self.append(name, value)
    }

    fn remove(&mut self, name: &str) -> usize {
        self.retain(|(own, _)| !own.eq_ignore_ascii_case(name))
    }

    fn retain(&mut self, keep: impl FnMut(&(String, Vec<u8>)) -> bool) -> usize {
        let before = self.0.len();
        self.0.retain(keep);
        before - self.0.len()
    }

    fn merge(&mut self, other: &Self) {
        self.0.retain(|(own, _)| other.0.iter().all(|(name, _)| name != own));
        self.0.extend(other.0.iter().cloned());
    }

    fn all(&self, name: &str) -> Vec<&[u8]> {
        let named = self.0.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice()).collect()
    }

    fn is_valid(name: &str, value: &[u8]) -> bool {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty()
            && name.bytes().all(token)
            && value.iter().all(|&byte| byte == b'\t' || byte >= 0x20 && byte != 0x7f)
    }
}

fn compare(section: &FieldSection, model: &Model, name: &str) {
    let pairs = section.iter().map(|field| (field.name_bytes(), field.value()));
    assert!(pairs.eq(model.0.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()))));
    let backwards = section.iter().rev().map(|field| field.value());
    assert!(backwards.eq(model.0.iter().rev().map(|(_, value)| value.as_slice())));
    assert_eq!(section.get_all(name).collect::<Vec<_>>(), model.all(name));
    assert_eq!(section.get(name), model.all(name).first().copied());
    let bytes = model.0.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    assert_eq!((section.len(), section.bytes()), (model.0.len(), bytes));
    assert_eq!(section.list_size(), bytes + 32 * model.0.len());
    for field in section {
        assert_eq!(field.known(), KnownName::lookup(field.name_bytes()));
        assert!(field.spelling().is_none_or(|text| text.eq_ignore_ascii_case(field.name().as_str())));
    }
}
