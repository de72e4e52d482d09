//! The servers our client is tried with: how each is set up, and its row of the matrix.

mod h2o;
mod nghttpd;
mod nginx;
mod programs;

use super::matrix::Row;
use super::way::Way;
use crate::certificates::Certificates;
use crate::peers::Origin;
use crate::site::Site;

pub use h2o::{H2O, serve as h2o};
pub use nghttpd::{NGHTTPD, serve as nghttpd};
pub use nginx::{NGINX, serve as nginx};
pub use programs::{GO, HYPER, NODE, serve_go as go, serve_hyper as hyper, serve_node as node};

/// Every row, in the order of the page.
pub const ROWS: &[&Row<Served>] = &[&NGHTTPD, &NGINX, &H2O, &GO, &HYPER, &NODE];

/// A server, what it serves and how it is trusted.
pub struct Served {
    /// The server.
    pub origin: Origin,
    /// A server that others hand requests on to.
    pub behind: Option<Origin>,
    /// Its files.
    pub site: Site,
    /// Its certificate.
    pub certificates: Certificates,
}

impl Served {
    /// The URL of a path, reached this way.
    #[must_use]
    pub fn url(&self, way: Way, path: &str) -> String {
        self.origin.url(&way.reach(&self.certificates), path)
    }

    fn start(start: impl FnOnce(&Site, &Certificates) -> Origin) -> Self {
        let (site, certificates) = (Site::new(), Certificates::new());
        Self { origin: start(&site, &certificates), behind: None, site, certificates }
    }
}
