//! The fields of a request that are removed when it is redirected.

use alula_fields::{Field, FieldError, FieldSection, KnownName};
use url::Url;

use super::Step;

/// Removes the fields that do not belong to `step`; `leaves` says that it is at another origin, `is_bared`
/// that the way there is in clear text after one that was secured.
pub(crate) fn rewrite(fields: &mut FieldSection, step: &Step, leaves: bool, is_bared: bool) {
    fields.retain(|field| {
        let goes = (leaves && is_for_one_origin(&field))
            || (step.drops_content && is_about_content(&field))
            // A secured page must not be named in clear text (RFC 9110 §10.1.3).
            || (is_bared && field.known() == Some(KnownName::REFERER));
        !goes
    });
}

/// Sets the `referer` of the next request to this URL (RFC 9110 §10.1.3), without its user information and
/// fragment; not from a secure URL to clear text.
pub(crate) fn refer(fields: &mut FieldSection, from: &Url, is_bared: bool) -> Result<(), FieldError> {
    fields.retain(|field| field.known() != Some(KnownName::REFERER));
    if is_bared {
        return Ok(());
    }
    let mut url = from.clone();
    url.set_fragment(None);
    // Both are allowed where there is a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    fields.append(KnownName::REFERER, url.as_str())
}

/// Returns true for fields of one origin: credentials, sensitive ones, and the host, which the next request
/// states itself.
fn is_for_one_origin(field: &Field<'_>) -> bool {
    field.is_hidden()
        || matches!(
            field.known(),
            Some(KnownName::HOST | KnownName::PROXY_AUTHENTICATE | KnownName::WWW_AUTHENTICATE)
        )
        // Meant for the cookies of one origin, as `cookie` is (RFC 2965, obsolete).
        || field.name_bytes() == b"cookie2"
}

/// Returns true for fields about content, or about its transfer.
fn is_about_content(field: &Field<'_>) -> bool {
    let name = field.name_bytes();
    name.starts_with(b"content-")
        || matches!(name, b"digest" | b"expect" | b"last-modified" | b"repr-digest" | b"trailer")
        || field.known() == Some(KnownName::TRANSFER_ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::redirects::Method;

    const FIELDS: [(&str, &str); 14] = [
        ("accept", "*/*"),
        ("authorization", "Basic YTpi"),
        ("content-digest", "x"),
        ("content-length", "1"),
        ("content-type", "text/plain"),
        ("cookie", "a=b"),
        ("cookie2", "$Version=1"),
        ("digest", "x"),
        ("expect", "100-continue"),
        ("host", "elsewhere"),
        ("proxy-authorization", "Basic YTpi"),
        ("referer", "https://a.example/secret"),
        ("transfer-encoding", "chunked"),
        ("x-trace", "1"),
    ];

    fn left(drops_content: bool, leaves: bool, is_bared: bool) -> Vec<&'static str> {
        let mut fields = FieldSection::from_pairs(FIELDS).unwrap();
        fields.append_sensitive("x-key", "1").unwrap();
        let to = Url::parse("http://a.example/").unwrap();
        rewrite(&mut fields, &Step { to, drops_content, method: Method::Same }, leaves, is_bared);
        let names = FIELDS.iter().map(|(name, _)| *name).chain(["x-key"]);
        names.filter(|name| fields.contains(*name)).collect()
    }

    #[test]
    fn the_url_that_led_here_is_said_without_what_is_for_its_owner() {
        for (from, is_bared, said) in [
            ("http://a.example/b?c#d", false, Some("http://a.example/b?c")),
            ("https://name:secret@a.example/", false, Some("https://a.example/")),
            ("https://a.example/b", true, None),
        ] {
            let mut fields = FieldSection::from_pairs(FIELDS).unwrap();
            refer(&mut fields, &Url::parse(from).unwrap(), is_bared).unwrap();
            let values: Vec<&[u8]> = fields.get_all("referer").collect();
            assert_eq!(values, said.map(str::as_bytes).into_iter().collect::<Vec<_>>(), "{from}");
        }
    }

    #[test]
    fn what_goes_along_depends_on_the_way() {
        let all = FIELDS.len() + 1;
        assert_eq!(left(false, false, false).len(), all);
        assert_eq!(left(false, false, true).len(), all - 1);
        let elsewhere = left(false, true, false);
        let kept = ["accept", "content-digest", "content-length", "content-type", "digest", "expect"];
        assert_eq!(elsewhere, [&kept[..], &["referer", "transfer-encoding", "x-trace"]].concat());
        assert_eq!(left(true, true, true), ["accept", "x-trace"]);
        let got = ["accept", "authorization", "cookie", "cookie2", "host", "proxy-authorization"];
        assert_eq!(left(true, false, false), [&got[..], &["referer", "x-trace", "x-key"]].concat());
    }
}
