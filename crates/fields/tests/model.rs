//! Random operations on a field section and on the simplest thing that could be one, compared after each.

use alula_fields::{FieldSection, KnownName, octets};
use alula_testkit::Rng;

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
        let before = self.0.len();
        self.0.retain(|(own, _)| *own != name.to_ascii_lowercase());
        before - self.0.len()
    }

    fn merge(&mut self, other: &Self) {
        self.0.retain(|(own, _)| other.0.iter().all(|(name, _)| name != own));
        self.0.extend(other.0.iter().cloned());
    }

    fn all(&self, name: &str) -> Vec<&[u8]> {
        let named = self.0.iter().filter(|(own, _)| *own == name.to_ascii_lowercase());
        named.map(|(_, value)| value.as_slice()).collect()
    }

    fn is_valid(name: &str, value: &[u8]) -> bool {
        let token = |octet: u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet);
        !name.is_empty()
            && name.bytes().all(token)
            && value.iter().all(|&o| o == b'\t' || o >= 0x20 && o != 0x7f)
    }
}

#[test]
fn a_section_is_a_list_of_pairs() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let (mut section, mut model) = (FieldSection::new(), Model::default());
        let (mut kept, mut kept_model) = (FieldSection::new(), Model::default());
        for step in 0..100 {
            let (name, value) = (name(&mut rng), value(&mut rng));
            match rng.below(16) {
                0 => assert_eq!(section.set(&*name, &value).is_ok(), model.set(&name, &value)),
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
                    (kept, kept_model) = Default::default();
                }
                5 => {
                    section.extend_from(&kept);
                    model.0.append(&mut kept_model.0);
                    kept.clear();
                }
                6 => {
                    let keep = rng.octet();
                    section.retain(|field| field.value().len() != keep as usize % 16);
                    model.0.retain(|(_, value)| value.len() != keep as usize % 16);
                }
                7 => {
                    let len = rng.below(model.0.len() + 2);
                    section.truncate(len);
                    model.0.truncate(len);
                }
                8 => section.trim(rng.below(2048)),
                9..=11 => {
                    assert_eq!(section.append_spelled(&name, &value).is_ok(), model.append(&name, &value))
                }
                _ => assert_eq!(
                    section.append(&*name, &value).is_ok(),
                    model.append(&name, &value),
                    "{name:?}"
                ),
            }
            compare(&section, &model, &name, &format!("seed {seed}, step {step}"));
        }
    }
}

fn compare(section: &FieldSection, model: &Model, name: &str, place: &str) {
    let pairs = section.iter().map(|field| (field.name_bytes(), field.value()));
    assert!(pairs.eq(model.0.iter().map(|(name, value)| (name.as_bytes(), value.as_slice()))), "{place}");
    assert_eq!(section.get_all(name).collect::<Vec<_>>(), model.all(name), "{place}");
    assert_eq!(section.get(name), model.all(name).first().copied(), "{place}");
    let octets = model.0.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    assert_eq!((section.len(), section.octets()), (model.0.len(), octets), "{place}");
    assert_eq!(section.list_size(), octets + 32 * model.0.len(), "{place}");
    for field in section {
        assert_eq!(field.known(), KnownName::lookup(field.name_bytes()), "{place}");
        assert_eq!(field.name().as_str().as_bytes(), field.name_bytes(), "{place}");
        assert!(
            field.spelling().is_none_or(|text| text.eq_ignore_ascii_case(field.name().as_str())),
            "{place}"
        );
    }
}

/// Known and unknown names from a small choice, so that they meet, in random case; now and then a bad one.
fn name(rng: &mut Rng) -> String {
    let known: Vec<&str> =
        KnownName::all().filter(|name| !name.is_pseudo()).map(KnownName::as_str).take(12).collect();
    let name = match rng.below(10) {
        0..=4 => (*rng.pick(&known)).to_owned(),
        5..=8 => format!("x-{}", rng.below(8)),
        _ => {
            let len = rng.below(20);
            String::from_utf8(rng.octets_of(b"ab-_~ :\x7f\n!", len)).unwrap()
        }
    };
    name.chars().map(|letter| if rng.one_in(3) { letter.to_ascii_uppercase() } else { letter }).collect()
}

fn value(rng: &mut Rng) -> Vec<u8> {
    let len = rng.below(24);
    match rng.one_in(8) {
        true => rng.octets(len),
        false => rng.octets_of(b"abc ,;=\t\xe9", len),
    }
}

/// The word-wise checks against the table, on strings of every length up to some words.
#[test]
fn checks_of_strings_agree_with_the_classes_of_their_octets() {
    let mut rng = Rng::new(1);
    for round in 0..20_000 {
        let len = rng.below(40);
        let text = match round % 3 {
            0 => rng.octets(len),
            1 => rng.octets_of(b"abcxyz019-ABZ~_", len),
            _ => rng.octets_of(b"a ,/#?=\t\x7f\x80\x1f", len),
        };
        let is_all = |class| text.iter().all(|&octet| octets::CLASS[octet as usize] & class != 0);
        assert_eq!(octets::is_token(&text), !text.is_empty() && is_all(octets::TOKEN), "{text:?}");
        assert_eq!(
            octets::is_lower_token(&text),
            !text.is_empty() && is_all(octets::LOWER_TOKEN),
            "{text:?}"
        );
        assert_eq!(octets::is_field_value(&text), is_all(octets::FIELD_VALUE), "{text:?}");
        assert_eq!(octets::is_path(&text), is_all(octets::PATH), "{text:?}");
    }
}
