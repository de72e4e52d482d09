//! Conversions to and from the `HeaderMap` of the `http` crate; feature `http`.
//!
//! A `HeaderMap` keeps the values of a name together but forgets how the names were mixed, so a section that
//! went there and back has the same values per name, in the same order, and perhaps another order of names.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::FieldSection;
use crate::error::FieldError;

/// ```
/// use alula::FieldSection;
/// use http::HeaderMap;
///
/// let mut map = HeaderMap::new();
/// map.append("accept", "text/html".parse().unwrap());
/// let section = FieldSection::try_from(&map)?;
/// assert_eq!(section.get("Accept"), Some(&b"text/html"[..]));
/// # Ok::<(), alula::FieldError>(())
/// ```
impl TryFrom<&HeaderMap> for FieldSection {
    type Error = FieldError;

    /// Allocates twice at most. Sensitive values stay so.
    ///
    /// # Errors
    /// Should `http` ever allow what [`FieldSection::append`] refuses.
    fn try_from(map: &HeaderMap) -> Result<Self, FieldError> {
        let bytes = map.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let mut section = Self::with_capacity(map.len(), bytes);
        for (name, value) in map {
            match value.is_sensitive() {
                true => section.append_sensitive(name.as_str(), value)?,
                false => section.append(name.as_str(), value)?,
            }
        }
        Ok(section)
    }
}

impl TryFrom<&FieldSection> for HeaderMap {
    type Error = FieldError;

    /// Allocates for the map, each value and each unknown name. Spelling is lost.
    ///
    /// # Errors
    /// When there are more fields than a `HeaderMap` holds (about 24 000), or a name is longer than 64 KiB.
    fn try_from(section: &FieldSection) -> Result<Self, FieldError> {
        let mut map = HeaderMap::try_with_capacity(section.len()).map_err(|_| FieldError::too_large(b""))?;
        section.append_to(&mut map)?;
        Ok(map)
    }
}

impl FieldSection {
    /// Appends all fields to those of a map; feature `http`. Values that
    /// [`Field::is_hidden`](crate::Field::is_hidden) names are sensitive in it, so that its `Debug` hides
    /// them. Allocates for each value and each unknown name.
    ///
    /// # Errors
    /// As the conversion into a `HeaderMap`; the map has some of the fields then.
    pub fn append_to(&self, map: &mut HeaderMap) -> Result<(), FieldError> {
        for field in self {
            let refused = || FieldError::too_large(field.name_bytes());
            let name = HeaderName::from_bytes(field.name_bytes()).map_err(|_| refused())?;
            let mut value = HeaderValue::from_bytes(field.value()).map_err(|_| refused())?;
            value.set_sensitive(field.is_hidden());
            map.try_append(name, value).map_err(|_| refused())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mut section =
            FieldSection::from_pairs([("set-cookie", "a"), ("x-odd", "é"), ("x-odd", "\t b")]).unwrap();
        section.append_sensitive("x-key", "secret").unwrap();
        let map = HeaderMap::try_from(&section).unwrap();
        assert!(
            map["x-key"].is_sensitive() && map["set-cookie"].is_sensitive() && !map["x-odd"].is_sensitive()
        );
        let back = FieldSection::try_from(&map).unwrap();
        for name in ["set-cookie", "x-odd", "x-key"] {
            assert!(back.get_all(name).eq(section.get_all(name)), "{name}");
        }
        assert_eq!(back.len(), section.len());
        assert!(back.iter().any(|field| field.is_sensitive()));
    }

    #[test]
    fn bytes_agree_on_what_a_value_is() {
        for byte in 0..=255 {
            let theirs = HeaderValue::from_bytes(&[byte]).is_ok();
            assert_eq!(crate::text::bytes::is_field_value(&[byte]), theirs, "{byte:#x}");
        }
    }

    #[test]
    fn too_many_fields_are_an_error() {
        let mut section = FieldSection::new();
        for index in 0..40_000 {
            section.append(&*alloc::format!("x-{index}"), "").unwrap();
        }
        assert!(HeaderMap::try_from(&section).is_err());
    }
}
