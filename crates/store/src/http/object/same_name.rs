//! Fields whose names share a prefix, such as `x-riak-meta-`: each name once, with all of its values.

use alula::FieldSection;

use crate::http::answer::fail::Fail;

/// The number of fields up to which each is compared with those before it. The names of more are sorted: to
/// compare a thousand with each other takes milliseconds.
const FEW_MAX: usize = 64;

/// Calls `visit` for each name that begins with `prefix`, at the place of its first field, with the rest of
/// the name and its values in their order. A name that is `prefix` alone is passed over. Names are in lower
/// case here. Allocates only for a section of many fields.
///
/// # Errors
/// The first one of `visit`.
pub(super) fn each<'h>(
    headers: &'h FieldSection,
    prefix: &str,
    mut visit: impl FnMut(&'h [u8], &mut dyn Iterator<Item = &'h [u8]>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    if headers.len() > FEW_MAX {
        return each_sorted(headers, prefix, visit);
    }
    for (place, field) in headers.iter().enumerate() {
        let Some(name) = after(field.name_bytes(), prefix) else { continue };
        let whole = field.name_bytes();
        if headers.iter().take(place).any(|other| other.name_bytes() == whole) {
            continue;
        }
        let same = headers.iter().skip(place).filter(|other| other.name_bytes() == whole);
        visit(name, &mut same.map(|field| field.value()))?;
    }
    Ok(())
}

fn each_sorted<'h>(
    headers: &'h FieldSection,
    prefix: &str,
    mut visit: impl FnMut(&'h [u8], &mut dyn Iterator<Item = &'h [u8]>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    let fields = headers.iter().enumerate().filter_map(|(place, field)| {
        after(field.name_bytes(), prefix).map(|name| (name, place, field.value()))
    });
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(name, place, _)| (*name, *place));
    let mut names: Vec<_> = fields.chunk_by(|(one, ..), (other, ..)| one == other).collect();
    names.sort_unstable_by_key(|fields| fields[0].1);
    names.into_iter().try_for_each(|fields| visit(fields[0].0, &mut fields.iter().map(|(.., value)| *value)))
}

/// Returns the rest of a name after the prefix.
fn after<'a>(name: &'a [u8], prefix: &str) -> Option<&'a [u8]> {
    name.strip_prefix(prefix.as_bytes()).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names with their values, of a section that has so many other fields as well.
    fn visited(fields: &[(&str, &str)], others: usize) -> Vec<(String, Vec<String>)> {
        let mut headers = FieldSection::from_pairs(fields.iter().copied()).expect("valid fields");
        for number in 0..others {
            headers.append(&*format!("other-{number}"), "x").expect("a valid field");
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let mut all = Vec::new();
        let visit = each(&headers, "a-", |name, values| {
            all.push((text(name), values.map(text).collect()));
            Ok(())
        });
        assert!(visit.is_ok());
        all
    }

    #[test]
    fn each_name_has_its_values_in_order_whether_there_are_few_fields_or_many() {
        let fields =
            [("a-z", "1"), ("b", "2"), ("a-b", "3"), ("a-", "4"), ("A-Z", "5"), ("a-b", ""), ("a-b", "3")];
        let all = [("z", vec!["1", "5"]), ("b", vec!["3", "", "3"])];
        let all =
            all.map(|(name, values)| (name.to_owned(), values.into_iter().map(str::to_owned).collect()));
        assert_eq!(visited(&fields, 0), all);
        assert_eq!(visited(&fields, FEW_MAX), all);
    }
}
