//! Both ends of a connection.

use std::sync::Arc;

use alula_fields::FieldSection;
use alula_machine::Limits;
use alula_net::h2::{Config, RequestHead};
use alula_net::{Accept, Conn, Connect, Ledger, Socket, Speaks, Stream, Transport};

fn ledger() -> Arc<Ledger> {
    Arc::new(Ledger::new(&Limits::default()))
}

pub(crate) fn connect(speaks: Speaks) -> Connect {
    Connect::new(speaks, Default::default(), Config::default(), ledger())
}

pub(crate) fn accept(speaks: Speaks) -> Accept {
    Accept {
        #[cfg(feature = "tls")]
        tls: None,
        #[cfg(feature = "tls")]
        clear_text: true,
        speaks,
        http1: Default::default(),
        config: Default::default(),
        ledger: ledger(),
        content_max: 1 << 20,
    }
}

pub(crate) fn boxed(transport: impl Transport + 'static) -> Socket {
    let transport: Box<dyn Transport> = Box::new(transport);
    transport.into()
}

/// Sends the head of a request.
pub(crate) async fn request(conn: &Arc<Conn>, method: &str, fields: &FieldSection, end: bool) -> Stream {
    let head =
        RequestHead { method, scheme: "http", authority: "example.com", path: "/", protocol: None, fields };
    conn.open(alula_net::Noted { method: "GET", path: "/" }, |machine, out| {
        machine.send_request(&head, end, out)
    })
    .await
    .unwrap()
}
