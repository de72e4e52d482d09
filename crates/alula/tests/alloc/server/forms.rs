//! A form of many parts costs what its request costs: a part more allocates nothing.

use alula::{Answer, Client, Exchange, Router, Sent, Status, routing::post};
use alula_tally::Side;

use crate::support::{DATE, on_a_thread, serve, windows};

const PARTS: usize = 100;

async fn count(mut exchange: Exchange) -> Result<Sent, Answer> {
    let (mut parts, mut bytes) = (0_u64, 0);
    let mut form = exchange.multipart()?;
    while let Some(mut part) = form.next_part().await? {
        assert_eq!(part.name().as_deref(), Some("a"));
        while let Some(chunk) = part.chunk().await? {
            bytes += chunk.len() as u64;
        }
        parts += 1;
    }
    assert_eq!(bytes, 7 * parts);
    let parts = alula::fields::Decimal::of(parts);
    Ok(exchange.respond(Status::OK).header("date", DATE).send(parts.as_bytes()).await?)
}

pub(crate) fn parts_of_a_form_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let routes = || Router::new().route("/", post(count)).build().unwrap();
    let url = serve(move |server| server.serve(routes()));
    on_a_thread(Side::CLIENT, async {
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
            let ask = async |parts: usize| {
                let part = "--b\r\ncontent-disposition: form-data; name=a\r\n\r\ncontent\r\n";
                let form = part.repeat(parts) + "--b--";
                let call = client.post(&url).header("content-type", "multipart/form-data; boundary=b");
                let mut response = call.send_body(form.as_bytes()).await.unwrap();
                assert_eq!(response.text().await.unwrap(), parts.to_string());
            };
            for _ in 0..100 {
                ask(3 * PARTS).await;
            }
            let windows = windows(Side::SERVER, PARTS, ask).await;
            assert!(windows.are_met(), "HTTP/2 {http2}: {windows:?}");
        }
    });
}
