//! The stand-in for `decoding.rs` when no coding is compiled in: content is left as it came.

use alula_net::Error;

use super::Call;
use crate::{builder::Decoding, response::Response};

impl Call<'_> {
    pub(crate) fn decoding(&self) -> Option<&Decoding> {
        None
    }

    pub(crate) fn decoded(&self, response: Response) -> Response {
        response
    }

    pub(crate) fn accept_codings(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
