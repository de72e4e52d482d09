//! The request and its origin, for those who read of a failure.

use std::fmt;

/// A request as it may be shown: its method and its URL without credentials and without the values of its query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    method: Box<str>,
    origin: Box<str>,
    path: Box<str>,
}

impl Asked {
    /// Of a method, an origin such as `https://a.example:8443`, and a path with its query.
    pub fn new(method: &str, origin: &str, path: &str) -> Self {
        Self { method: method.into(), origin: origin.into(), path: without_values(path).into() }
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The origin: scheme, host, and port unless it is the scheme's.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The path, and of the query the names.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.origin)?;
        // Such as the asterisk of OPTIONS.
        if !self.path.starts_with('/') {
            f.write_str(" ")?;
        }
        f.write_str(&self.path)
    }
}

/// The path, and of a query the names alone: `/login?user=…&token=…`.
fn without_values(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let names = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}=…"),
        Some(_) => pair.to_owned(),
        // A query without names may be a secret as a whole.
        None if pair.is_empty() => String::new(),
        None => "…".to_owned(),
    });
    format!("{path}?{}", names.collect::<Vec<_>>().join("&"))
}

/// A URL, or what was given for one, as it may be shown: without user information, without the values of its query and without
/// its fragment. Whatever stands before an `@` may be a password that was not escaped, and goes.
pub fn masked_url(text: &str) -> String {
    let (scheme, rest) = match text.find("//") {
        Some(slashes) => text.split_at(slashes + 2),
        None => ("", text),
    };
    let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, rest)| ("…@", rest));
    let (rest, fragment) = rest.split_once('#').map_or((rest, ""), |(rest, _)| (rest, "#…"));
    format!("{scheme}{user}{}{fragment}", without_values(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_secrets() {
        for (url, shown) in [
            ("http://a.example:80/b", "http://a.example:80/b"),
            ("http://user:secret@a.example:99999/", "http://…@a.example:99999/"),
            ("http://user:se/cr?e#t@a/", "http://…@a/"),
            ("http://user:se/cret@a/", "http://…@a/"),
            ("user:secret@a", "…@a"),
            ("http:///x?key=secret#secret", "http:///x?key=…#…"),
            ("", ""),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }

    #[test]
    fn values_of_a_query_are_not_shown() {
        for (path, shown) in [
            ("/", "/"),
            ("/a?b=c", "/a?b=…"),
            ("/a?b=c&d=&e", "/a?b=…&d=&…"),
            ("/a?", "/a?"),
            ("/a?t0k3n", "/a?…"),
        ] {
            assert_eq!(Asked::new("GET", "http://a", path).to_string(), format!("GET http://a{shown}"));
        }
        assert_eq!(Asked::new("OPTIONS", "http://a", "*").to_string(), "OPTIONS http://a *");
    }
}
