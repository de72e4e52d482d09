//! `--session`: fields, credentials and cookies kept between runs, in a file in HTTPie's format.
//!
//! Rule: the file holds secrets. It is replaced as that of a jar is: at once, and for its owner alone.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use alula::Jar;
use serde_json::{Map, Value, json};
use url::Url;

use super::target::Target;
use crate::fetch::send::cookies;
use crate::{
    args::{FieldArg, Options, RequestArgs},
    failure::exit::{Exit, Failure, Outcome},
};

/// The version of the file format.
const FORM: &str = "3.2.4";

/// Beginnings of the names of fields that belong to one request only.
const OF_ONE_REQUEST: [&str; 2] = ["content-", "if-"];

/// Fields that are not kept as such: the host follows from the URL, and cookies have a list of their own.
const KEPT_ELSEWHERE: [&str; 2] = ["cookie", "host"];

/// A session as it was when the run began, with the additions of the arguments.
#[derive(Debug)]
pub(in crate::fetch) struct Kept {
    path: PathBuf,
    /// The URL whose cookies are kept.
    url: Url,
    /// The file is not written.
    is_fixed: bool,
    members: Map<String, Value>,
}

impl Kept {
    /// Reads the session of the flags, if there is one, and adds the arguments to it. `of_url` is who asks by
    /// the first URL.
    ///
    /// # Errors
    /// The file cannot be read or is none of a session, or the URLs are of several hosts.
    pub(in crate::fetch) fn of(
        options: &Options,
        given: &[&FieldArg],
        of_url: Option<&(String, String)>,
        targets: &[Target],
    ) -> Result<Option<Self>, Failure> {
        let Options { httpie, request, .. } = options;
        let (Some(name), Some(first)) =
            (httpie.session.as_ref().or(httpie.session_read_only.as_ref()), targets.first())
        else {
            return Ok(None);
        };
        let is_of_first = |target: &Target| target.url.host_str() == first.url.host_str();
        // Fields and credentials of one host must not go to another.
        if !targets.iter().all(is_of_first) {
            return Err(usage("a session is for one host, and the URLs are those of several"));
        }
        let path = path(name, &first.url)?;
        let read = read(&path)?;
        let is_fixed = httpie.session.is_none() && read.is_some();
        let mut kept = Self { path, url: first.url.clone(), is_fixed, members: read.unwrap_or_default() };
        kept.add_credentials(request, of_url);
        kept.add_fields(given);
        Ok(Some(kept))
    }

    /// Returns the fields to send beside the given ones, with the credentials unless there are some already.
    ///
    /// # Errors
    /// The scheme of the credentials is none that is spoken.
    pub(in crate::fetch) fn fields(
        &self,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, String)>, Failure> {
        let mut fields: Vec<(String, String)> = pairs(self.members.get("headers"))
            .into_iter()
            .filter(|(name, _)| !is_given(name) && !is_one_of(&KEPT_ELSEWHERE, name))
            .collect();
        if !is_given("authorization")
            && !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        {
            fields.extend(self.authorization()?.map(|value| ("authorization".to_owned(), value)));
        }
        for (name, value) in &fields {
            let checked = FieldArg::new(name, Some(value));
            checked
                .map_err(|why| usage(format_args!("{}: the field {name:?}: {why}", self.path.display())))?;
        }
        Ok(fields)
    }

    /// Returns the name and the password for digest authentication.
    pub(in crate::fetch) fn digest_user(&self) -> Option<(String, String)> {
        let (_, raw) = self.auth().filter(|(scheme, _)| *scheme == "digest")?;
        Some(user_of(&raw))
    }

    /// Returns the scheme of the credentials, and the name and the password, or the token.
    fn auth(&self) -> Option<(&str, String)> {
        let auth = self.members.get("auth")?;
        let text = |name: &str| auth[name].as_str().unwrap_or_default();
        let raw = match auth["raw_auth"].as_str() {
            Some(raw) => raw.to_owned(),
            None => format!("{}:{}", text("username"), text("password")),
        };
        auth["type"].as_str().map(|scheme| (scheme, raw))
    }

    fn authorization(&self) -> Result<Option<String>, Failure> {
        let Some((scheme, raw)) = self.auth() else { return Ok(None) };
        match scheme {
            "basic" => {
                let (name, password) = user_of(&raw);
                Ok(Some(crate::fetch::send::basic::basic(&name, &password)))
            }
            "bearer" => Ok(Some(format!("Bearer {raw}"))),
            // The server says first how it is made.
            "digest" => Ok(None),
            other => Err(usage(format_args!(
                "{} asks for the scheme {other:?}; -u or --bearer says who asks instead",
                self.path.display()
            ))),
        }
    }

    /// Puts the cookies into the jar, for the host of the session if they name none.
    pub(in crate::fetch) fn fill(&self, jar: &Jar) {
        for cookie in cookies_of(self.members.get("cookies")) {
            // A cookie that is not for this host is left out.
            let _ = jar.add(self.url.as_str(), &cookie);
        }
    }

    /// Writes the file, with the jar's cookies for the host, unless it is read-only.
    pub(in crate::fetch) fn keep(&self, jar: Option<&Jar>) -> Outcome {
        if self.is_fixed {
            return Ok(());
        }
        let mut members = self.members.clone();
        members.insert(
            "__meta__".to_owned(),
            json!({ "about": "a session of alula, as HTTPie writes it", "httpie": FORM }),
        );
        members.entry("headers").or_insert_with(|| json!([]));
        members.entry("auth").or_insert_with(|| json!({ "type": null, "username": null, "password": null }));
        let cookies = jar.map(|jar| listed(&jar.to_netscape(), &self.url)).unwrap_or_default();
        members.insert("cookies".to_owned(), Value::Array(cookies));
        let failed = |error: io::Error| Failure::local(self.path.display(), &error);
        make_folder(&self.path).map_err(failed)?;
        cookies::replace(&self.path, pretty(&members)?.as_bytes()).map_err(failed)
    }

    fn add_credentials(&mut self, request: &RequestArgs, of_url: Option<&(String, String)>) {
        let user = request.user.as_ref().or(of_url.filter(|_| request.bearer.is_none()));
        let auth = match (user, &request.bearer) {
            (Some((name, password)), _) => {
                let scheme = if request.digest { "digest" } else { "basic" };
                json!({ "type": scheme, "raw_auth": format!("{name}:{password}") })
            }
            (None, Some(token)) => json!({ "type": "bearer", "raw_auth": token }),
            (None, None) => return,
        };
        self.members.insert("auth".to_owned(), auth);
    }

    /// Replaces fields by given ones of the same name. Cookies among them are kept as such.
    fn add_fields(&mut self, given: &[&FieldArg]) {
        let is_kept = |field: &&&FieldArg| {
            let name = field.name.to_ascii_lowercase();
            field.value.is_some()
                && !KEPT_ELSEWHERE.contains(&&*name)
                && !OF_ONE_REQUEST.iter().any(|start| name.starts_with(start))
        };
        let new: Vec<&&FieldArg> = given.iter().filter(is_kept).collect();
        let is_new = |name: &str| new.iter().any(|field| field.name.eq_ignore_ascii_case(name));
        let old = pairs(self.members.get("headers")).into_iter().filter(|(name, _)| !is_new(name));
        let new = new.iter().map(|field| (field.name.clone(), field.value.clone().unwrap_or_default()));
        let all = new.chain(old).map(|(name, value)| json!({ "name": name, "value": value }));
        let all = Value::Array(all.collect());
        self.members.insert("headers".to_owned(), all);
        let cookies = given.iter().filter(|field| field.name.eq_ignore_ascii_case("cookie"));
        let cookies: Vec<(String, String)> =
            cookies.filter_map(|field| field.value.as_deref()).flat_map(crumbs).collect();
        for (name, value) in cookies {
            self.add_cookie(name, value);
        }
    }

    fn add_cookie(&mut self, name: String, value: String) {
        let all = self.members.entry("cookies").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.push(json!({ "name": name, "value": value, "path": "/", "domain": "", "secure": false, "expires": null }));
        }
    }
}

fn user_of(raw: &str) -> (String, String) {
    let (name, password) = raw.split_once(':').unwrap_or((raw, ""));
    (name.to_owned(), password.to_owned())
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the pairs in a value of `cookie`.
fn crumbs(value: &str) -> Vec<(String, String)> {
    let pairs = value.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Reads fields from a list of names and values, or from an object as in older files.
fn pairs(fields: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match fields {
        Some(Value::Array(all)) => {
            all.iter().filter_map(|field| Some((text(&field["name"])?, text(&field["value"])?))).collect()
        }
        Some(Value::Object(all)) => {
            all.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns cookies as `set-cookie` values.
fn cookies_of(cookies: Option<&Value>) -> Vec<String> {
    match cookies {
        Some(Value::Array(all)) => {
            all.iter().filter_map(|cookie| set_cookie(cookie["name"].as_str()?, cookie)).collect()
        }
        Some(Value::Object(all)) => {
            all.iter().filter_map(|(name, cookie)| set_cookie(name, cookie)).collect()
        }
        _ => Vec::new(),
    }
}

fn set_cookie(name: &str, cookie: &Value) -> Option<String> {
    let mut line = format!("{name}={}", cookie["value"].as_str()?);
    let attribute = |name: &str| cookie[name].as_str().filter(|value| !value.is_empty());
    for (written, value) in [("Path", attribute("path")), ("Domain", attribute("domain"))] {
        line.extend(value.map(|value| format!("; {written}={value}")));
    }
    if let Some(expires) = cookie["expires"].as_f64() {
        let at = std::time::UNIX_EPOCH + std::time::Duration::try_from_secs_f64(expires).unwrap_or_default();
        line.push_str(&format!("; Expires={}", httpdate::fmt_http_date(at)));
    }
    if cookie["secure"].as_bool() == Some(true) {
        line.push_str("; Secure");
    }
    // A line that is no cookie's own is none.
    (!line.contains(['\r', '\n', '\0'])).then_some(line)
}

/// Returns the cookies of a jar in curl's format that match the host of this URL.
fn listed(jar: &str, url: &Url) -> Vec<Value> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let lines = jar.lines().map(|line| line.strip_prefix("#HttpOnly_").unwrap_or(line));
    let cookies = lines.filter(|line| !line.starts_with('#')).filter_map(|line| {
        let [domain, is_wide, path, is_secure, expires, name, value] =
            line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let bare = domain.trim_start_matches('.');
        let is_of_host = host == bare || host.ends_with(&format!(".{bare}"));
        let domain = if is_wide == "TRUE" { domain } else { "" };
        let expires = expires.parse::<u64>().ok().filter(|at| *at > 0);
        is_of_host.then(|| {
            json!({
                "name": name, "value": value, "path": path, "domain": domain,
                "secure": is_secure == "TRUE", "expires": expires,
            })
        })
    });
    cookies.collect()
}

/// Returns the file of a session: a path, or a file by its name and the host.
fn path(name: &str, url: &Url) -> Result<PathBuf, Failure> {
    if name.contains(std::path::is_separator) {
        return Ok(name.into());
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!("_{port}")).unwrap_or_default();
    let folder = configuration().ok_or_else(|| {
        usage("a session needs a folder for its file: HOME is not set, so name it by a path with a slash")
    })?;
    let host = format!("{}{port}", host.replace(':', "_"));
    Ok(folder.join("alula").join("sessions").join(host).join(format!("{name}.json")))
}

/// Returns the user's configuration folder.
fn configuration() -> Option<PathBuf> {
    let given = std::env::var_os(if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" });
    let given = given.map(PathBuf::from).filter(|folder| folder.is_absolute());
    given.or_else(|| std::env::home_dir().map(|home| home.join(".config")))
}

fn read(path: &Path) -> Result<Option<Map<String, Value>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(Value::Object(members)) => Ok(Some(members)),
            Ok(_) => Err(no_session(path, "it is no JSON object")),
            Err(error) => Err(no_session(path, &error.to_string())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::local(path.display(), &error)),
    }
}

fn no_session(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Local, format_args!("{} is no session: {why}", path.display()))
}

fn make_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Formats JSON with an indent of four spaces, as HTTPie does.
fn pretty(members: &Map<String, Value>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, format);
    let written = serde::Serialize::serialize(members, &mut serializer);
    written.map_err(|error| Failure::new(Exit::Local, error))?;
    bytes.push(b'\n');
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn usage(sentence: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_by_session_and_host() {
        let of = |name: &str, url: &str| path(name, &Url::parse(url).unwrap()).unwrap();
        assert_eq!(of("./a", "http://b/"), PathBuf::from("./a"));
        for (url, end) in [
            ("http://a.example/", "alula/sessions/a.example/n.json"),
            ("http://a.example:80/", "alula/sessions/a.example/n.json"),
            ("https://a.example:8443/", "alula/sessions/a.example_8443/n.json"),
            ("http://[::1]:80/", "alula/sessions/[__1]/n.json"),
        ] {
            assert!(of("n", url).ends_with(end), "{url}");
        }
    }

    #[test]
    fn cookies_are_those_of_the_host() {
        let url = Url::parse("http://b.a.example/").unwrap();
        let jar = "# a remark\n.a.example\tTRUE\t/\tTRUE\t9\tc\td\n#HttpOnly_b.a.example\tFALSE\t/x\tFALSE\t0\te\tf\n\
                   other.example\tFALSE\t/\tFALSE\t0\tg\th\n";
        let all = listed(jar, &url);
        assert_eq!(all.len(), 2);
        assert_eq!(
            all[0],
            json!({"name": "c", "value": "d", "path": "/", "domain": ".a.example", "secure": true, "expires": 9})
        );
        assert_eq!(
            (&all[1]["domain"], &all[1]["expires"], &all[1]["path"]),
            (&json!(""), &json!(null), &json!("/x"))
        );
    }

    #[test]
    fn cookies_are_set_again_as_they_were() {
        for (cookie, expected) in [
            (json!({"value": "1", "path": "/x", "domain": ""}), Some("a=1; Path=/x")),
            (json!({"value": "1", "domain": ".a", "secure": true}), Some("a=1; Domain=.a; Secure")),
            (json!({"value": "1", "expires": 0}), Some("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT")),
            (json!({"value": "1\r\nx: y"}), None),
            (json!({"path": "/"}), None),
        ] {
            assert_eq!(set_cookie("a", &cookie).as_deref(), expected, "{cookie}");
        }
    }

    #[test]
    fn older_files_have_objects() {
        let fields = json!({"A": "1", "B": null});
        assert_eq!(pairs(Some(&fields)), [("A".to_owned(), "1".to_owned())]);
        assert_eq!(cookies_of(Some(&json!({"c": {"value": "d"}}))), ["c=d"]);
    }
}
