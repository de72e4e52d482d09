//! Documents that are always the same: one for each usual media type, and pages of links.

use alula::{Answer, KnownName, Status, fields::parameters};
use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::json;

use super::{
    asked::Asked,
    made::{HTML, JSON, Made, TEXT},
    redirects,
};
use crate::random;

/// Links of a page at most.
const LINKS_MAX: u32 = 200;

/// `/json`.
pub(super) fn json(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(JSON, include_str!("documents/slides.json")))
}

/// `/xml`.
pub(super) fn xml(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of("application/xml", include_str!("documents/slides.xml")))
}

/// `/html`.
pub(super) fn html(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(HTML, include_str!("documents/page.html")))
}

/// `/forms/post`.
pub(super) fn form(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(HTML, include_str!("documents/form.html")))
}

/// `/encoding/utf8`.
pub(super) fn utf8(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(HTML, include_str!("documents/utf8.txt")))
}

/// `/robots.txt`.
pub(super) fn robots(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of("text/plain", "User-agent: *\nDisallow: /deny\n"))
}

/// `/deny`.
pub(super) fn deny(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of("text/plain", "robots are asked not to read this\n"))
}

/// `/image/png`: a black pixel.
pub(super) fn png(_: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of("image/png", PIXEL))
}

/// `/uuid`.
pub(super) fn uuid(_: &Asked<'_>) -> Result<Made, Answer> {
    Made::json(&json!({ "uuid": random::uuid() }), 0)
}

/// `/base64/TEXT`, in the alphabet of URLs.
pub(super) fn base64(asked: &Asked<'_>) -> Result<Made, Answer> {
    let text = asked.path_text("text")?;
    let decoded = URL_SAFE.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let malformed = || Answer::new(Status::BAD_REQUEST).detail("it is no base64 of text; try SGVsbG8");
    Ok(Made::of(TEXT, decoded.ok_or_else(malformed)?))
}

/// Base64 with `-` and `_` (RFC 4648 §5), with padding or without.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `/links/N`.
pub(super) fn first_links(asked: &Asked<'_>) -> Result<Made, Answer> {
    redirects::to(&format!("/links/{}/0", asked.path_number::<u32>("count")?))
}

/// `/links/N/M`: a page of N links, of which that to itself is none.
pub(super) fn links(asked: &Asked<'_>) -> Result<Made, Answer> {
    let count = asked.path_number::<u32>("count")?.clamp(1, LINKS_MAX);
    let own: u32 = asked.path_number("own")?;
    let mut page = String::from("<html><head><title>Links</title></head><body>");
    for at in 0..count {
        match at == own {
            true => page.push_str(&format!("{at} ")),
            false => page.push_str(&format!("<a href='/links/{count}/{at}'>{at}</a> ")),
        }
    }
    page.push_str("</body></html>");
    Ok(Made::of(HTML, page))
}

/// `/image`: the one image there is, for those who take it.
pub(super) fn image(asked: &Asked<'_>) -> Result<Made, Answer> {
    match parameters::accepts(asked.headers().get_all(KnownName::ACCEPT), "image/png") {
        true => png(asked),
        false => super::statuses::described(Status::NOT_ACCEPTABLE),
    }
}

/// A picture in PNG of one black pixel: signature, IHDR, IDAT and IEND.
const PIXEL: [u8; 67] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x37, 0x6e, 0xf9, 0x24, 0x00,
    0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01,
    0xe5, 0x27, 0xde, 0xfc, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];
