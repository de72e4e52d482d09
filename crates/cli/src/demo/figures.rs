//! The figures of one run, per request, and their JSON.

use serde_json::{Value, json};

use super::runs::{Run, Transport};

/// The cost of a request after the warm-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub(super) requests_per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Calls to the allocator, per request.
    pub(super) client_allocations: f64,
    pub(super) server_allocations: f64,
    pub(super) process_allocations: f64,
    pub(super) wire: Wire,
}

/// Bytes of request and response: on the wire, and of the names and values in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) sent: f64,
    pub(super) received: f64,
    pub(super) fields_sent: usize,
    pub(super) fields_received: usize,
}

/// Returns the runs as a JSON object.
pub(super) fn json(runs: &[Run]) -> Value {
    let of = |transport: Transport| -> Value {
        let runs = runs.iter().filter(|run| run.transport == transport);
        Value::Object(runs.map(|run| (run.in_flight.to_string(), json_of(run))).collect())
    };
    Value::Object(
        Transport::ALL.map(|transport| (transport.key().to_owned(), of(transport))).into_iter().collect(),
    )
}

fn json_of(Run { figures, .. }: &Run) -> Value {
    json!({
        "requests_per_second": number(figures.requests_per_second, 1),
        "p50_us": number(figures.p50_us, 1),
        "p99_us": number(figures.p99_us, 1),
        "client_allocations": number(figures.client_allocations, 4),
        "server_allocations": number(figures.server_allocations, 4),
        "process_allocations": number(figures.process_allocations, 4),
        "wire_bytes_out": number(figures.wire.sent, 2),
        "wire_bytes_in": number(figures.wire.received, 2),
        "field_bytes_out": figures.wire.fields_sent,
        "field_bytes_in": figures.wire.fields_received,
    })
}

/// Rounds to so many digits; a whole number has no point.
fn number(value: f64, digits: i32) -> Value {
    let unit = 10_f64.powi(digits);
    let rounded = (value * unit).round() / unit;
    if rounded.fract() == 0.0 { Value::from(rounded as u64) } else { Value::from(rounded) }
}

#[cfg(test)]
mod tests {
    use super::{super::runs::IN_FLIGHT, *};

    #[test]
    fn zero_is_written_as_zero_and_others_are_rounded() {
        assert_eq!(number(0.0, 4).to_string(), "0");
        assert_eq!(number(0.00004, 4).to_string(), "0");
        assert_eq!(number(1.23456, 4).to_string(), "1.2346");
        assert_eq!(number(61_234.56, 1).to_string(), "61234.6");
    }

    #[test]
    fn the_object_has_a_figure_for_each_run() {
        let wire = Wire { sent: 24.0, received: 20.5, fields_sent: 400, fields_received: 300 };
        let figures = Figures {
            requests_per_second: 1.0,
            p50_us: 2.0,
            p99_us: 3.0,
            client_allocations: 0.0,
            server_allocations: 0.0,
            process_allocations: 0.0,
            wire,
        };
        let all = Transport::ALL.into_iter();
        let runs = all.flat_map(|transport| IN_FLIGHT.map(|in_flight| Run { transport, in_flight, figures }));
        let json = json(&runs.collect::<Vec<_>>());
        for transport in ["clear", "tls"] {
            for in_flight in ["1", "10", "100"] {
                let figures = &json[transport][in_flight];
                assert_eq!(figures["client_allocations"].to_string(), "0");
                assert_eq!(figures["wire_bytes_in"], 20.5);
                assert_eq!(figures["field_bytes_out"], 400);
            }
        }
    }
}
