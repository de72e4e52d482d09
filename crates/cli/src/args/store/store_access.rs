//! The flags of `alula store` for its users.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(ClapArgs, Debug)]
pub(crate) struct AccessArgs {
    /// Let in the users of FILE alone, in TOML, and each of them where the file allows it.
    ///
    /// Users have passwords, which are taken over TLS, or certificates. The file must not be readable by
    /// others. It is read again after SIGHUP or SIGUSR1; when it is wrong, the users stay as they are. See
    /// docs/store.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) users: Option<PathBuf>,

    /// Take passwords in clear text, in which everybody on the way can read them: for a proxy on this machine
    /// that ends TLS.
    #[arg(long, requires = "users")]
    pub(crate) users_without_tls: bool,

    /// Ask clients for certificates, and take those that lead to one of these authorities (PEM).
    ///
    /// Users are known by them.
    #[arg(long, value_name = "PEM", requires = "users")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Read a password and print its hash for a users file.
    ///
    /// The password is typed twice on a terminal, which does not show it, or is the first line of stdin. No
    /// store is opened.
    #[arg(long, exclusive = true)]
    pub(crate) hash_password: bool,
}
