//! The number of descriptors that the process may open.

/// Raises the soft limit to the hard one. Shells keep the soft limit small for the sake of programs that use
/// `select`; a server's connections are bounded by it. Where the system refuses, the limit stays as it is.
#[cfg(unix)]
pub(crate) fn raise_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

#[cfg(not(unix))]
pub(crate) fn raise_limit() {}
