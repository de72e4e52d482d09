//! The limits on the parts of a form.

/// The limits on the parts of a form, beside the `content_max` that bounds all of its bytes. The defaults are
/// meant to be kept.
///
/// ```
/// # fn example(exchange: &mut alula::Exchange) -> Result<(), alula::Error> {
/// use alula::MultipartLimits;
///
/// let limits = MultipartLimits { parts: 10_000, ..MultipartLimits::default() };
/// let form = exchange.multipart()?.limits(limits);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MultipartLimits {
    /// The parts of a form; default 1,000. Each costs work, however small it is.
    pub parts: usize,
    /// The bytes of the head of a part, with its blank line; default 16 KiB. It holds the names of the part
    /// and its file, and all of it is kept while the part is read.
    pub head_bytes: usize,
    /// The bytes that [`text`](crate::ReceivedPart::text) and [`bytes`](crate::ReceivedPart::bytes) gather;
    /// default 1 MiB. It bounds neither `chunk` nor `save_to`.
    pub gathered_bytes: usize,
}

impl Default for MultipartLimits {
    fn default() -> Self {
        Self { parts: 1_000, head_bytes: 16 * 1024, gathered_bytes: 1024 * 1024 }
    }
}
