//! The content of a form: pairs of `application/x-www-form-urlencoded`, and parts of `multipart/form-data`
//! (RFC 7578).

use std::borrow::Cow;

use alula::{Answer, FieldSection, KnownName, MultipartLimits, MultipartReader, fields::parameters};
use url::form_urlencoded;

use super::asked::Memory;

/// Parts that are read at most; browsers send no more.
const PARTS_MAX: usize = 10_000;

/// Pairs, in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Form {
    /// Names and values.
    pub(super) values: Vec<(String, String)>,
    /// Names, media types and contents of parts that have a file name.
    pub(super) files: Vec<(String, String, Vec<u8>)>,
}

impl Form {
    /// Reads the pairs of a form; `None` when the media type is that of none.
    pub(super) fn of_pairs(headers: &FieldSection, content: &[u8]) -> Option<Self> {
        let media_type = parameters::main(headers.get(KnownName::CONTENT_TYPE)?);
        let is_form = media_type.eq_ignore_ascii_case(b"application/x-www-form-urlencoded");
        let values = || form_urlencoded::parse(content).into_owned().collect();
        is_form.then(|| Self { values: values(), files: Vec::new() })
    }

    /// Reads the parts of a form; one that has no name is passed over.
    ///
    /// # Errors
    /// 400 for a malformed form, 413 for too much of it, 503 where there is no memory for it.
    pub(super) async fn of_parts(parts: MultipartReader<'_>, memory: &mut Memory) -> Result<Self, Answer> {
        let mut parts = parts.limits(MultipartLimits { parts: PARTS_MAX, ..MultipartLimits::default() });
        let mut form = Self::default();
        while let Some(mut part) = parts.next_part().await? {
            let Some(name) = part.name().map(Cow::into_owned) else { continue };
            // A file name, even an empty one, makes a part a file, as browsers send it (RFC 7578 §4.2).
            let file = part.file_name().map(|_| part.media_type().unwrap_or(super::made::BYTES).to_owned());
            let mut content = Vec::new();
            while let Some(chunk) = part.chunk().await? {
                memory.append(&mut content, chunk)?;
            }
            match file {
                Some(media_type) => form.files.push((name, media_type, content)),
                None => form.values.push((name, String::from_utf8_lossy(&content).into_owned())),
            }
        }
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use alula::{Exchange, Status, testing};

    use super::*;

    /// Reads a form that a server gets.
    async fn form(media_type: &str, content: &str) -> (u16, String) {
        let client = testing::client(async |mut exchange: Exchange| -> Result<_, Answer> {
            let mut memory = Memory::of(&exchange)?;
            let form = Form::of_parts(exchange.multipart()?, &mut memory).await?;
            Ok(exchange.respond(Status::OK).text(format!("{form:?}")).await?)
        });
        let call = client.post("http://test/").header("content-type", media_type);
        let mut response = call.send_body(content.as_bytes()).await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    #[test]
    fn pairs_are_decoded_as_browsers_write_them() {
        let of_pairs = |media_type| {
            let headers = FieldSection::from_pairs([("content-type", media_type)]).unwrap();
            Form::of_pairs(&headers, b"a=1&b=%20+&c").map(|form| form.values)
        };
        let values = [("a", "1"), ("b", "  "), ("c", "")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(of_pairs("Application/x-www-form-urlencoded; charset=utf-8"), Some(values.to_vec()));
        assert_eq!(of_pairs("text/plain"), None);
    }

    #[tokio::test]
    async fn parts_are_values_and_files() {
        let content = "preamble\r\n--x y\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\none\r\ntwo\r\n--x y\r\n\
            Content-Type: text/plain\r\nContent-Disposition: form-data; name=f; filename=\"g;h\"\r\n\r\n\r\n--x y\r\n\
            content-disposition: form-data\r\n\r\nnameless\r\n--x y \t\r\n\
            content-disposition: form-data; name=h; filename*=utf-8''h\r\n\r\nlast\r\n--x y--\r\nepilogue";
        let file = |name: &str, media_type: &str, content: &str| {
            (name.to_owned(), media_type.to_owned(), content.as_bytes().to_vec())
        };
        let expected = Form {
            values: vec![("a".to_owned(), "one\r\ntwo".to_owned())],
            files: vec![file("f", "text/plain", ""), file("h", "application/octet-stream", "last")],
        };
        let media_type = "multipart/form-data; boundary=\"x y\"";
        assert_eq!(form(media_type, content).await, (200, format!("{expected:?}")));
        assert_eq!(form(media_type, &content[..content.len() - 20]).await.0, 400);
    }
}
