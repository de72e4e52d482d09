//! The proxies of a client: given ones, or those of the environment.

use std::sync::Arc;

use alula_net::Error;

use super::{Exceptions, Proxy, Server, unusable};
use crate::connecting::Destination;

/// The proxies of a client, in order of preference.
#[derive(Clone, Debug)]
pub(crate) enum Proxies {
    /// The proxies of the environment, which is read later; the text replaces its exceptions.
    OfEnvironment(Option<String>),
    These(Vec<Proxy>),
}

impl Proxies {
    pub(crate) fn add(&mut self, proxy: Proxy) {
        match self {
            Self::OfEnvironment(_) => *self = Self::These(vec![proxy]),
            Self::These(proxies) => proxies.push(proxy),
        }
    }

    /// Sets the exceptions of the environment's proxies, if those are used.
    pub(crate) fn except(&mut self, hosts: &str) {
        if let Self::OfEnvironment(except) = self {
            *except = Some(hosts.to_owned());
        }
    }

    /// Reads the environment, unless proxies were given.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        if let Self::OfEnvironment(except) = self {
            let except = except.take();
            *self = Self::These(of_environment(|name| std::env::var(name).ok(), except)?);
        }
        Ok(())
    }

    /// Returns the proxy for a destination; `None` if there is none.
    pub(crate) fn to(&self, to: &Destination) -> Option<Arc<Server>> {
        self.these().iter().find(|proxy| proxy.is_for(to)).map(|proxy| proxy.server.clone())
    }

    /// Returns true if one of them uses TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn are_secure(&self) -> bool {
        self.these().iter().any(Proxy::is_secure)
    }

    fn these(&self) -> &[Proxy] {
        match self {
            Self::OfEnvironment(_) => &[],
            Self::These(proxies) => proxies,
        }
    }
}

/// Returns the proxies in these variables; a lower-case name goes before an upper-case one, and an empty
/// value stands for no proxy.
///
/// `HTTP_PROXY` in upper case is what a CGI program's client has sent as the field `proxy` (RFC 3875
/// §4.1.18): there it does not count.
fn of_environment(
    variable: impl Fn(&str) -> Option<String>,
    except: Option<String>,
) -> Result<Vec<Proxy>, Error> {
    let named = |name: &'static str| variable(name).map(|value| (name, value));
    let either = |lower, upper| named(lower).or_else(|| named(upper));
    let is_cgi = variable("REQUEST_METHOD").is_some();
    // A CGI program gets the request field `proxy` as HTTP_PROXY: the peer would choose the proxy
    // ("httpoxy").
    let http = named("http_proxy").or_else(|| named("HTTP_PROXY").filter(|_| !is_cgi));
    let https = either("https_proxy", "HTTPS_PROXY");
    let all = either("all_proxy", "ALL_PROXY");
    let except = except.unwrap_or_else(|| either("no_proxy", "NO_PROXY").unwrap_or_default().1);
    let except = Exceptions::of(&except);
    let mut proxies = Vec::new();
    for (given, scheme) in [(http, "http"), (https, "https")] {
        let (name, url) = given.or_else(|| all.clone()).unwrap_or_default();
        // A variable that is set and empty turns the proxy off, also where `all_proxy` names one.
        if !url.trim().is_empty() {
            let proxy = Proxy::of(&url, name).map_err(unusable)?;
            proxies.push(Proxy { serves: Some(scheme), except: except.clone(), ..proxy });
        }
    }
    Ok(proxies)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the host of the proxy for each scheme, with these variables.
    fn hosts(variables: &[(&str, &str)]) -> [Option<String>; 2] {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let variable = |name: &str| find(name).map(|(_, value)| (*value).to_owned());
        let proxies = of_environment(variable, None).unwrap();
        ["http", "https"].map(|scheme| {
            let to = Destination { scheme, host: "www.example.com".to_owned(), port: 80, zone: None };
            Proxies::These(proxies.clone()).to(&to).map(|server| server.host.clone())
        })
    }

    fn some(hosts: [&str; 2]) -> [Option<String>; 2] {
        hosts.map(|host| Some(host.to_owned()).filter(|host| !host.is_empty()))
    }

    #[test]
    fn each_scheme_has_its_variable_and_one_is_for_both() {
        assert_eq!(hosts(&[]), some(["", ""]));
        assert_eq!(hosts(&[("http_proxy", "a"), ("https_proxy", "b")]), some(["a", "b"]));
        assert_eq!(hosts(&[("all_proxy", "c")]), some(["c", "c"]));
        assert_eq!(hosts(&[("ALL_PROXY", "c"), ("HTTPS_PROXY", "b")]), some(["c", "b"]));
        assert_eq!(hosts(&[("all_proxy", "c"), ("https_proxy", "")]), some(["c", ""]));
    }

    #[test]
    fn exceptions_that_were_given_take_the_place_of_its_own() {
        let variable = |name: &str| match name {
            "all_proxy" => Some("a".to_owned()),
            "no_proxy" => Some("www.example.com".to_owned()),
            _ => None,
        };
        let to = |host: &str| Destination { scheme: "http", host: host.to_owned(), port: 80, zone: None };
        let mut proxies = Proxies::OfEnvironment(None);
        proxies.except("*.b.example, c.example");
        let Proxies::OfEnvironment(except) = proxies else { panic!("they are not settled") };
        let proxies = Proxies::These(of_environment(variable, except).unwrap());
        for (host, is_through_it) in [("www.example.com", true), ("c.example", false), ("d.example", true)] {
            assert_eq!(proxies.to(&to(host)).is_some(), is_through_it, "{host}");
        }
    }

    #[test]
    fn lower_case_counts_first() {
        let both = [("HTTP_PROXY", "A"), ("http_proxy", "b"), ("HTTPS_PROXY", "c"), ("https_proxy", "d")];
        assert_eq!(hosts(&both), some(["b", "d"]));
        assert_eq!(hosts(&[("ALL_PROXY", "a"), ("all_proxy", "b")]), some(["b", "b"]));
        assert_eq!(hosts(&[("all_proxy", "b"), ("NO_PROXY", "*"), ("no_proxy", "")]), some(["b", "b"]));
    }

    #[test]
    fn a_cgi_program_is_not_led_astray_by_its_client() {
        let variables = [("HTTP_PROXY", "evil.example"), ("HTTPS_PROXY", "b"), ("REQUEST_METHOD", "GET")];
        assert_eq!(hosts(&variables), some(["", "b"]));
        assert_eq!(hosts(&variables[..2]), some(["evil.example", "b"]));
        assert_eq!(hosts(&[("http_proxy", "a"), ("REQUEST_METHOD", "GET")]), some(["a", ""]));
    }

    #[test]
    fn exceptions_are_for_both_schemes() {
        for list in ["example.com", "*", "a.test,.example.com:80"] {
            assert_eq!(hosts(&[("all_proxy", "a"), ("no_proxy", list)]), some(["", ""]), "{list}");
        }
        assert_eq!(hosts(&[("all_proxy", "a"), ("NO_PROXY", "example.org")]), some(["a", "a"]));
    }

    #[test]
    fn what_is_no_proxy_is_not_passed_over() {
        let gopher = |name: &str| (name == "all_proxy").then(|| "gopher://anna:s3cret@a".to_owned());
        assert_eq!(
            of_environment(gopher, None).unwrap_err().to_string(),
            "cannot use the proxy gopher://…@a of the variable all_proxy: its scheme is gopher, and only http, https, socks5 and \
             socks5h are supported"
        );
    }
}
