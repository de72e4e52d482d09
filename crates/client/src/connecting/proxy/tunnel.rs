//! A tunnel through an HTTP proxy (CONNECT, RFC 9110 §9.3.6), with the usual machine of HTTP/1.1.

use alula_fields::{FieldSection, Head, RequestHead, Status};
use alula_machine::{Limits, OutBuf, StreamKey, Time};
use alula_net::{
    Cause, Error, Phase, Retry, Transport,
    h1::{self, Connection, ConnectionError, Event},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::broken;

/// Asks for a tunnel to `authority`, and returns the status of the answer and the bytes after its head.
///
/// # Errors
/// The proxy refused, with its status, broke a rule, or was gone.
pub(crate) async fn ask(
    proxy: &mut (impl Transport + ?Sized),
    authority: &str,
    authorization: &str,
    fields: &FieldSection,
    limits: &Limits,
) -> Result<(Status, Vec<u8>), Error> {
    let config = h1::Config {
        limits: limits.clone(),
        proxy_authorization: authorization.to_owned(),
        ..h1::Config::default()
    };
    let mut machine = Connection::client(config);
    let request = request(&mut machine, authority, fields)?;
    proxy.write_all(request.unsent()).await.map_err(broken)?;
    proxy.flush().await.map_err(broken)?;
    let mut input = Vec::new();
    let stream = answer(&mut machine, proxy, &mut input).await?;
    let mut head = Head::new();
    // The machine has just said that the head is there.
    let _ = machine.take_head(stream, &mut head);
    match head.status() {
        // Any 2xx opens the tunnel, not 200 alone (RFC 9110 §9.3.6).
        Some(status) if status.is_success() => Ok((status, input)),
        Some(status) => {
            // A mistake of the client would be repeated by the next try (RFC 9110 §15.5).
            let retry = if status.is_client_error() { Retry::Pointless } else { Retry::Safe };
            Err(Error::new(Phase::Proxy, Cause::ProxyStatus(status), retry))
        }
        None => Err(Error::new(Phase::Proxy, Cause::Closed, Retry::Safe)),
    }
}

fn request(machine: &mut Connection, authority: &str, fields: &FieldSection) -> Result<OutBuf, Error> {
    let head = RequestHead { method: "CONNECT", scheme: "", authority, path: "", protocol: None, fields };
    let mut out = OutBuf::new();
    let sent = machine.send_request(&head, false, &mut out);
    sent.map_err(|error| Error::new(Phase::Proxy, Cause::Refused(error.into()), Retry::Pointless))?;
    Ok(out)
}

/// Reads to the end of the answer's head, and leaves the rest in `input`.
async fn answer(
    machine: &mut Connection,
    proxy: &mut (impl Transport + ?Sized),
    input: &mut Vec<u8>,
) -> Result<StreamKey, Error> {
    loop {
        let received = machine.receive(input, Time::ZERO).map_err(of_machine)?;
        let answered = match received.event {
            Some(Event::Head { stream, .. }) => Some(stream),
            _ => None,
        };
        let is_done = received.event.is_none();
        input.drain(..received.consumed);
        if let Some(stream) = answered {
            return Ok(stream);
        }
        if is_done && proxy.read_buf(input).await.map_err(broken)? == 0 {
            return Err(Error::new(Phase::Proxy, Cause::Closed, Retry::Safe));
        }
    }
}

fn of_machine(error: ConnectionError) -> Error {
    Error::new(Phase::Proxy, Cause::Http1(error), Retry::Safe)
}
