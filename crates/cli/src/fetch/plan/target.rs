//! The typed URL, parsed and completed.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::zone;
use crate::fetch::content::{Content, Input, Source};
use crate::{
    args::Scheme,
    failure::exit::{Exit, Failure},
};

/// The characters that stand in paths in their encoded form only (WHATWG URL, path percent-encode set).
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// A URL to request, and the other parts of the typed URL.
#[derive(Clone, Debug)]
pub(in crate::fetch) struct Target {
    pub(in crate::fetch) url: Url,
    /// The zone of an IPv6 address with its percent sign, which is not sent.
    pub(in crate::fetch) zone: Option<String>,
    /// Name and password before the host.
    pub(in crate::fetch) credentials: Option<(String, String)>,
    /// The path and query as they were typed, if they are sent with their dots.
    pub(in crate::fetch) path_as_is: Option<String>,
    /// The place of its URL on the command line.
    pub(in crate::fetch) place: usize,
    /// The values of its patterns.
    pub(in crate::fetch) values: Vec<String>,
    /// The file of -T for it, by its place in the plan.
    pub(in crate::fetch) upload: Option<usize>,
}

impl Target {
    /// Parses a typed URL, and appends an encoded query.
    pub(in crate::fetch) fn of(typed: &str, query: &[String]) -> Result<Self, Failure> {
        let text = with_scheme(typed, None);
        alula::check_url(&text)?;
        let (text, zone) = zone::taken_out(&text);
        let mut url = Url::parse(&text).map_err(|error| Failure::new(Exit::Usage, error))?;
        let credentials = take_credentials(&mut url);
        url.set_fragment(None);
        if !query.is_empty() {
            let given = url.query().filter(|given| !given.is_empty());
            let all: Vec<&str> = given.into_iter().chain(query.iter().map(String::as_str)).collect();
            let all = all.join("&");
            url.set_query(Some(&all));
        }
        Ok(Self { url, zone, credentials, path_as_is: None, place: 0, values: Vec::new(), upload: None })
    }

    /// Returns the URL to call, with the zone of its address.
    pub(in crate::fetch) fn called(&self) -> Cow<'_, str> {
        match &self.zone {
            Some(zone) => Cow::Owned(zone::put_into(self.url.as_str(), zone)),
            None => Cow::Borrowed(self.url.as_str()),
        }
    }

    /// Keeps the path as it was typed.
    pub(in crate::fetch) fn keep_path(&mut self, typed: &str) {
        let text = with_scheme(typed, None);
        let after_host =
            text.split_once("://").and_then(|(_, rest)| Some(&rest[rest.find(['/', '?', '#'])?..]));
        let path = after_host.and_then(|rest| rest.split(['?', '#']).next()).unwrap_or_default();
        // Without such segments the parsed path is the same but for its encoding, and is kept.
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            let query = self.url.query().map(|query| format!("?{query}")).unwrap_or_default();
            self.path_as_is = Some(utf8_percent_encode(path, ENCODED).to_string() + &query);
        }
    }

    /// Returns the last segment of the path, still encoded.
    pub(in crate::fetch) fn last_segment(&self) -> &str {
        self.url.path().rsplit('/').next().unwrap_or_default()
    }

    /// Returns the target for this file of -T at this place; a path that ends in a slash is given its name.
    pub(in crate::fetch) fn sent(&self, place: usize, content: &Content) -> Self {
        let mut target = Self { upload: Some(place), ..self.clone() };
        if let Source::Input(Input::File(path)) = &content.source
            && let Some(name) = path.file_name().and_then(|name| name.to_str())
        {
            target.put_name(name);
        }
        target
    }

    /// Appends the name of a file to a path that ends in a slash.
    fn put_name(&mut self, name: &str) {
        if self.last_segment().is_empty()
            && let Ok(mut segments) = self.url.path_segments_mut()
        {
            segments.pop_if_empty().push(name);
        }
    }
}

/// Adds a scheme to a URL that has none, this one or http; the host may be missing before a port or a path.
pub(in crate::fetch) fn with_scheme(typed: &str, scheme: Option<Scheme>) -> String {
    let scheme = match scheme {
        Some(Scheme::Https) => "https",
        Some(Scheme::Http) | None => "http",
    };
    let is_scheme =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let one_slash = ["http:/", "https:/"].into_iter().find_map(|start| {
        let (scheme, rest) = typed.split_at_checked(start.len())?;
        let is_meant = scheme.eq_ignore_ascii_case(start) && !rest.is_empty() && !rest.starts_with('/');
        is_meant.then(|| format!("{start}/{rest}"))
    });
    // `http:/v1.24/info` for the socket of Docker has no host that a URL can have: all of it is the path.
    if let Some(typed) = one_slash.filter(|typed| alula::check_url(typed).is_ok()) {
        return typed;
    }
    match typed.split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) => typed.to_owned(),
        _ => match typed.strip_prefix(':') {
            // An IPv6 address begins with two colons, and needs brackets.
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("{scheme}://localhost:{rest}")
            }
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{scheme}://localhost{rest}"),
            _ => format!("{scheme}://{typed}"),
        },
    }
}

/// Returns the failure of a URL whose protocol --proto or --proto-redir forbids.
pub(in crate::fetch) fn forbidden(url: &str) -> Failure {
    let scheme = url.split(':').next().unwrap_or_default();
    let sentence = format!("{}: {scheme} is not allowed by --proto or --proto-redir", alula::masked_url(url));
    Failure::new(Exit::Usage, sentence).curl(1)
}

fn take_credentials(url: &mut Url) -> Option<(String, String)> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let credentials = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
    // They can be taken from any URL that has a host, as those of http do.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_becomes_a_url() {
        for (typed, expected) in [
            ("http://a", "http://a/"),
            ("HTTPS://A/b?c#d", "https://a/b?c"),
            ("a", "http://a/"),
            ("a.b/c", "http://a.b/c"),
            ("localhost:8080", "http://localhost:8080/"),
            ("localhost:8080/a?u=http://b/", "http://localhost:8080/a?u=http://b/"),
            (":8080", "http://localhost:8080/"),
            (":8080/a", "http://localhost:8080/a"),
            (":/a", "http://localhost/a"),
            (":", "http://localhost/"),
            ("[::1]:80/a", "http://[::1]/a"),
            ("127.0.0.1:1/ä b", "http://127.0.0.1:1/%C3%A4%20b"),
            ("http:/a/b", "http://a/b"),
            ("HTTPS:/a", "https://a/"),
            ("http:/v1.24/info", "http://http/v1.24/info"),
            ("éé", "http://xn--9caa/"),
        ] {
            assert_eq!(Target::of(typed, &[]).unwrap().url.as_str(), expected, "{typed}");
        }
        for wrong in [
            "",
            "ftp://a/",
            "not a url",
            "a:b",
            "http://",
            "::1",
            "file:///etc/passwd",
            "https:///x",
            "///x",
            "http://:80/",
        ] {
            assert!(Target::of(wrong, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_zone_is_kept_beside_the_url() {
        for (typed, url, called) in [
            (
                "[fe80::1%25eth0]:81/a?b=[%25]",
                "http://[fe80::1]:81/a?b=[%25]",
                "http://[fe80::1%25eth0]:81/a?b=[%25]",
            ),
            ("[fe80::1%eth0]", "http://[fe80::1]/", "http://[fe80::1%eth0]/"),
            ("http:/[fe80::1%251]/", "http://[fe80::1]/", "http://[fe80::1%251]/"),
            ("https://a:b@[::1%1]", "https://[::1]/", "https://[::1%1]/"),
            ("[::1]/[::1%25lo]", "http://[::1]/[::1%25lo]", "http://[::1]/[::1%25lo]"),
        ] {
            let target = Target::of(typed, &[]).unwrap();
            assert_eq!((target.url.as_str(), &*target.called()), (url, called), "{typed}");
        }
        assert!(Target::of("[fe80::1%25]", &[]).is_err());
    }

    #[test]
    fn the_scheme_may_be_another_by_default() {
        for (typed, expected) in [
            ("a", "https://a"),
            (":80", "https://localhost:80"),
            ("http://a", "http://a"),
            (":/x", "https://localhost/x"),
        ] {
            assert_eq!(with_scheme(typed, Some(Scheme::Https)), expected);
        }
    }

    #[test]
    fn a_path_may_be_kept() {
        for (typed, expected) in [
            ("a/b/../c/./d?e=../f#g", Some("/b/../c/./d?e=../f")),
            ("http://a/../b c", Some("/../b%20c")),
            (":8080/..", Some("/..")),
            ("a/b?c=/../", None),
            ("a/b..c", None),
            ("a", None),
        ] {
            let mut target = Target::of(typed, &[]).unwrap();
            target.keep_path(typed);
            assert_eq!(target.path_as_is.as_deref(), expected, "{typed}");
        }
    }

    #[test]
    fn a_query_is_appended_to_the_one_that_is_there() {
        let query = ["a=1".to_owned(), "b=%26".to_owned()];
        for (typed, expected) in
            [("a", "http://a/?a=1&b=%26"), ("a?", "http://a/?a=1&b=%26"), ("a?c#d", "http://a/?c&a=1&b=%26")]
        {
            assert_eq!(Target::of(typed, &query).unwrap().url.as_str(), expected);
        }
    }

    #[test]
    fn credentials_are_taken_out_of_the_url() {
        for (typed, name, password) in
            [("http://a:b@c/", "a", "b"), ("a@c", "a", ""), ("https://a%40b:c%3Ad@e/", "a@b", "c:d")]
        {
            let target = Target::of(typed, &[]).unwrap();
            assert_eq!(target.credentials, Some((name.to_owned(), password.to_owned())));
            assert!(!target.url.as_str().contains('@'), "{}", target.url);
        }
    }

    #[test]
    fn a_folder_takes_the_name_of_a_file() {
        for (typed, expected) in [
            ("a/b/", "http://a/b/c%20d"),
            ("a", "http://a/c%20d"),
            ("a/b", "http://a/b"),
            ("a/?q", "http://a/c%20d?q"),
        ] {
            let mut target = Target::of(typed, &[]).unwrap();
            target.put_name("c d");
            assert_eq!(target.url.as_str(), expected);
        }
    }
}
