//! The users of the command: read at the start, and again after SIGHUP or SIGUSR1.

use std::{io, path::PathBuf};

use alula_store::access::{Access, Users};
use anstyle::Style;

use crate::{
    args::StoreArgs,
    failure::exit::{Exit, Failure},
    listening::signals::ReopenSignals,
    terminal,
};

/// The users who are let in, with their file.
pub(super) struct OpenUsers {
    access: Access,
    file: PathBuf,
}

/// Reads the users file, if there is one.
///
/// # Errors
/// It is wrong, or nobody could send a password or a certificate.
pub(super) fn open(args: &StoreArgs) -> Result<Option<OpenUsers>, Failure> {
    let access = &args.access;
    let Some(file) = &access.users else { return Ok(None) };
    let has_tls = args.listen.cert.is_some() || args.listen.self_signed;
    if !has_tls && !access.users_without_tls {
        return Err(usage(
            "users send their passwords over TLS alone: add --cert and --key, or --self-signed to try it, or \
             --users-without-tls behind a proxy that ends TLS",
        ));
    }
    if !has_tls && access.client_ca.is_some() {
        return Err(usage(
            "certificates of clients come over TLS alone: add --cert and --key to --client-ca",
        ));
    }
    let users = Users::read(file).map_err(|error| Failure::new(Exit::Usage, error))?;
    let made = if access.users_without_tls { Access::in_clear_text(users) } else { Access::new(users) };
    let made = made.map_err(|error| Failure::new(Exit::Local, error))?;
    Ok(Some(OpenUsers { access: made, file: file.clone() }))
}

impl OpenUsers {
    pub(super) fn access(&self) -> Access {
        self.access.clone()
    }

    /// Starts a task that reads the file again after each signal.
    ///
    /// # Errors
    /// The signals cannot be awaited.
    pub(super) fn watch(self) -> io::Result<()> {
        let mut signals = ReopenSignals::new()?;
        tokio::spawn(async move {
            let users = std::sync::Arc::new(self);
            loop {
                signals.next().await;
                let users = users.clone();
                // It has told by itself how that went.
                let _ = tokio::task::spawn_blocking(move || users.read_again()).await;
            }
        });
        Ok(())
    }

    fn read_again(&self) {
        let read = Users::read(&self.file).map_err(|error| error.to_string());
        let replaced = read.and_then(|users| {
            let count = users.count();
            self.access.replace(users).map(|()| count).map_err(|error| error.to_string())
        });
        match replaced {
            Ok(count) => tell(&format!("{}: read again, users: {count}", self.file.display())),
            Err(error) => tell(&format!("the users stay as they were: {error}")),
        }
    }
}

fn tell(sentence: &str) {
    terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes());
}

fn usage(sentence: &str) -> Failure {
    Failure::new(Exit::Usage, sentence)
}
