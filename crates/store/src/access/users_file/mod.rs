//! The users file: TOML, of which every name is known and every mistake is told with its line.
//!
//! Rule: no error repeats a value of `password`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{error, fs, io};

use alula::fields::OneLine;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::certificate::CertificateName;
use super::grant::{Grant, Scope};
use super::password::Password;
use super::permission::{Permission, Permissions};
use super::rate::Rate;
use super::users::{User, Users};

/// The longest file, in bytes: some ten thousand users.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The longest name of a user, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// The group of which every user is a member, as in Riak.
const EVERYONE: &str = "all";

const OF_FILE: &[&str] = &["users", "groups"];
const OF_USER: &[&str] = &["password", "certificates", "groups", "grants", "requests-per-second", "burst"];
const OF_GROUP: &[&str] = &["grants"];
const OF_GRANT: &[&str] = &["allow", "type", "bucket", "bucket-prefix"];

/// The reason for which a users file is not taken.
///
/// `Display` gives one line, in which whatever a terminal would obey is escaped.
#[derive(Debug)]
pub struct UsersError {
    file: Option<PathBuf>,
    line: Option<usize>,
    text: String,
}

type Read<T> = Result<T, UsersError>;
/// The grants of each group by its name.
type Groups = HashMap<String, Arc<[Grant]>>;
/// A value with its place in the file.
type Node<'t> = Spanned<DeValue<'t>>;
/// A name with its place in the file.
type Name<'t> = Spanned<Cow<'t, str>>;

impl Users {
    /// Reads a users file, which may be read by its owner and by a group alone.
    ///
    /// # Errors
    /// The file cannot be read, others may read or change it, or it is wrong.
    pub fn read(file: &Path) -> Result<Self, UsersError> {
        let named = |error: UsersError| UsersError { file: Some(file.to_owned()), ..error };
        let text = text_of(file).map_err(named)?;
        Self::parse(&text).map_err(named)
    }

    /// Reads the text of a users file.
    ///
    /// # Errors
    /// The text is wrong. The error says in which line.
    pub fn parse(text: &str) -> Result<Self, UsersError> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            let message = error.message().lines().next().unwrap_or_default();
            Source(text).wrong(at, format!("is no TOML: {message}"))
        })?;
        Source(text).users(table.get_ref())
    }
}

fn text_of(file: &Path) -> Read<String> {
    let not_read = |error: io::Error| UsersError::new(format!("cannot be read: {error}"));
    let about = fs::metadata(file).map_err(not_read)?;
    if !about.is_file() {
        return Err(UsersError::new("is no file".to_owned()));
    }
    check_mode(&about)?;
    if about.len() > FILE_BYTES_MAX {
        return Err(UsersError::new(format!("is longer than {FILE_BYTES_MAX} bytes")));
    }
    fs::read_to_string(file).map_err(not_read)
}

/// Refuses a file whose hashes other users can read, or which others than its owner can change.
#[cfg(unix)]
fn check_mode(about: &fs::Metadata) -> Read<()> {
    use std::os::unix::fs::MetadataExt as _;

    const NOT_TAKEN: u32 = 0o027;
    match about.mode() & NOT_TAKEN {
        0 => Ok(()),
        _ => {
            let mode = about.mode() & 0o777;
            Err(UsersError::new(format!(
                "may be read or changed by others (mode {mode:03o}): run chmod 600 on it"
            )))
        }
    }
}

#[cfg(not(unix))]
fn check_mode(_: &fs::Metadata) -> Read<()> {
    Ok(())
}

/// The text of a file, which turns places into numbers of lines.
#[derive(Clone, Copy)]
struct Source<'t>(&'t str);

impl<'t> Source<'t> {
    fn wrong(self, at: Range<usize>, text: impl Into<String>) -> UsersError {
        let before = self.0.get(..at.start).unwrap_or(self.0);
        UsersError { file: None, line: Some(1 + before.matches('\n').count()), text: text.into() }
    }

    fn users(self, file: &DeTable<'t>) -> Read<Users> {
        self.check_names(file, OF_FILE, "a users file")?;
        let groups = self.groups(file)?;
        let mut users = Users::default();
        for (name, table) in self.tables(file, "users")? {
            let user = self.user(name, table, &groups)?;
            if let Some(taken) = user.certificates.iter().find(|name| users.has_certificate(name)) {
                let text = format!("{}: another user has the certificate {taken}", user.name);
                return Err(self.wrong(table.span(), text));
            }
            users.add(user);
        }
        match users.count() {
            0 => Err(UsersError::new("names no user: add a table [users.NAME]".to_owned())),
            _ => Ok(users),
        }
    }

    fn groups(self, file: &DeTable<'t>) -> Read<Groups> {
        let mut groups = HashMap::new();
        for (name, node) in self.tables(file, "groups")? {
            let table = self.table(node, "a group")?;
            self.check_names(table, OF_GROUP, "a group")?;
            groups.insert(name.get_ref().to_string(), self.grants(table)?.into());
        }
        Ok(groups)
    }

    fn user(self, name: &Name<'t>, node: &Node<'t>, groups: &Groups) -> Read<User> {
        self.check_name(name)?;
        let table = self.table(node, "a user")?;
        self.check_names(table, OF_USER, "a user")?;
        let password = table.get("password").map(|node| self.password(node)).transpose()?;
        let certificates = self.texts(table, "certificates")?;
        let certificates = certificates.into_iter().map(|(node, text)| {
            CertificateName::read(text)
                .map_err(|why| self.wrong(node.span(), format!("a name of a certificate {why}")))
        });
        let certificates = certificates.collect::<Read<Vec<_>>>()?;
        if password.is_none() && certificates.is_empty() {
            let text = format!("{} has neither a password nor certificates", name.get_ref());
            return Err(self.wrong(name.span(), text));
        }
        let mut grants = vec![self.grants(table)?.into()];
        grants.extend(groups.get(EVERYONE).cloned());
        for (node, group) in self.texts(table, "groups")? {
            let group = groups
                .get(group)
                .ok_or_else(|| self.wrong(node.span(), format!("there is no group {group:?}")))?;
            grants.push(group.clone());
        }
        let rate = self.rate(table)?;
        let name = name.get_ref().as_ref().into();
        Ok(User { name, password, certificates, grants, rate, used: Arc::default() })
    }

    fn check_name(self, name: &Name<'t>) -> Read<()> {
        let text = name.get_ref();
        let is_taken = !text.is_empty()
            && text.len() <= NAME_BYTES_MAX
            && !text.contains([':', '"', '\\'])
            && !text.contains(char::is_control);
        match is_taken {
            true => Ok(()),
            false => Err(self.wrong(name.span(), format!("the name of a user has 1 to {NAME_BYTES_MAX} bytes and no colon, quote, backslash or control character"))),
        }
    }

    fn password(self, node: &Node<'t>) -> Read<Arc<Password>> {
        let text = self.text(node, "password")?;
        Password::read(text)
            .map(Arc::new)
            .map_err(|why| self.wrong(node.span(), format!("the password {why}")))
    }

    fn rate(self, table: &DeTable<'t>) -> Read<Option<Rate>> {
        let burst = table.get("burst").map(|node| Ok((node, self.number(node, "burst")?))).transpose()?;
        let Some(node) = table.get("requests-per-second") else {
            return match burst {
                Some((node, _)) => {
                    Err(self.wrong(node.span(), "`burst` needs `requests-per-second` beside it"))
                }
                None => Ok(None),
            };
        };
        let per_second = self.number(node, "requests-per-second")?;
        Ok(Some(Rate::new(per_second, burst.map_or(per_second, |(_, burst)| burst))))
    }

    fn grants(self, table: &DeTable<'t>) -> Read<Vec<Grant>> {
        self.array(table, "grants")?.iter().map(|node| self.grant(node)).collect()
    }

    fn grant(self, node: &Node<'t>) -> Read<Grant> {
        let table = self.table(node, "a grant")?;
        self.check_names(table, OF_GRANT, "a grant")?;
        let mut permissions = Permissions::NONE;
        for (node, name) in self.texts(table, "allow")? {
            let permission = Permission::of_name(name).ok_or_else(|| {
                let all = Permission::ALL.map(Permission::name).join(", ");
                self.wrong(node.span(), format!("there is no permission {name:?}: there are {all}"))
            })?;
            permissions = permissions.and(permission);
        }
        if permissions == Permissions::NONE {
            return Err(
                self.wrong(node.span(), "a grant has permissions in `allow`, such as allow = [\"get\"]")
            );
        }
        Ok(Grant { permissions, scope: self.scope(table, node)? })
    }

    fn scope(self, table: &DeTable<'t>, grant: &Node<'t>) -> Read<Scope> {
        let [bucket_type, bucket, prefix] = ["type", "bucket", "bucket-prefix"].map(|name| {
            let node = table.get(name);
            node.map(|node| self.name(node, name)).transpose()
        });
        match (bucket_type?, bucket?, prefix?) {
            (None, None, None) => Ok(Scope::Store),
            (Some(bucket_type), None, None) => Ok(Scope::Type(bucket_type)),
            (Some(bucket_type), Some(bucket), None) => Ok(Scope::Bucket { bucket_type, bucket }),
            (Some(bucket_type), None, Some(prefix)) => Ok(Scope::Prefix { bucket_type, prefix }),
            (None, ..) => Err(self.wrong(
                grant.span(),
                "a bucket is one of a type: add `type`, which is \"default\" for buckets without one",
            )),
            (_, Some(_), Some(_)) => {
                Err(self.wrong(grant.span(), "a grant has either `bucket` or `bucket-prefix`"))
            }
        }
    }

    /// Reads the name of a type or a bucket, which is not empty: an empty one would be taken for all of them.
    fn name(self, node: &Node<'t>, name: &str) -> Read<Box<[u8]>> {
        match self.text(node, name)? {
            "" => Err(self.wrong(node.span(), format!("`{name}` is empty: leave it out for all of them"))),
            text => Ok(text.as_bytes().into()),
        }
    }

    fn check_names(self, table: &DeTable<'t>, known: &[&str], of: &str) -> Read<()> {
        match table.keys().find(|name| !known.contains(&name.get_ref().as_ref())) {
            Some(name) => {
                let text = format!("{of} has no {:?}: it has {}", name.get_ref(), known.join(", "));
                Err(self.wrong(name.span(), text))
            }
            None => Ok(()),
        }
    }

    /// Returns the tables of a table, by name, in the order of the file.
    fn tables<'a>(self, table: &'a DeTable<'t>, name: &str) -> Read<Vec<(&'a Name<'t>, &'a Node<'t>)>> {
        let Some(node) = table.get(name) else { return Ok(Vec::new()) };
        Ok(self.table(node, name)?.iter().collect())
    }

    fn table<'a>(self, node: &'a Node<'t>, of: &str) -> Read<&'a DeTable<'t>> {
        node.get_ref().as_table().ok_or_else(|| self.wrong(node.span(), format!("{of} is a table")))
    }

    fn text<'a>(self, node: &'a Node<'t>, name: &str) -> Read<&'a str> {
        node.get_ref().as_str().ok_or_else(|| self.wrong(node.span(), format!("`{name}` is a text")))
    }

    fn number(self, node: &Node<'t>, name: &str) -> Read<u32> {
        let number = node.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
        number.filter(|number| *number > 0).ok_or_else(|| {
            self.wrong(node.span(), format!("`{name}` is a whole number from 1 to {}", u32::MAX))
        })
    }

    fn array<'a>(self, table: &'a DeTable<'t>, name: &str) -> Read<&'a [Node<'t>]> {
        let Some(node) = table.get(name) else { return Ok(&[]) };
        let array = node.get_ref().as_array().map(|array: &DeArray<'t>| &**array);
        array.ok_or_else(|| self.wrong(node.span(), format!("`{name}` is an array")))
    }

    fn texts<'a>(self, table: &'a DeTable<'t>, name: &str) -> Read<Vec<(&'a Node<'t>, &'a str)>> {
        self.array(table, name)?.iter().map(|node| Ok((node, self.text(node, name)?))).collect()
    }
}

impl UsersError {
    fn new(text: String) -> Self {
        Self { file: None, line: None, text }
    }
}

impl fmt::Display for UsersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = OneLine(f);
        if let Some(file) = &self.file {
            write!(text, "{}: ", file.display())?;
        }
        if let Some(line) = self.line {
            write!(text, "line {line}: ")?;
        }
        text.write_str(&self.text)
    }
}

impl error::Error for UsersError {}
