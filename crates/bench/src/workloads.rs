//! The list of all workloads.

use crate::hpack::{decode, encode, part_g};
use crate::memory::{created, fields, routes};
use crate::whole::{client, connections, server, store, tls};
use crate::workload::Workload;

/// Every workload, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Workload> {
    let groups: [&[Workload]; 11] = [
        encode::WORKLOADS,
        decode::WORKLOADS,
        fields::WORKLOADS,
        routes::WORKLOADS,
        created::WORKLOADS,
        client::WORKLOADS,
        server::WORKLOADS,
        store::WORKLOADS,
        connections::WORKLOADS,
        tls::WORKLOADS,
        part_g::WORKLOADS,
    ];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names = Vec::new();
        for workload in all() {
            assert!(!names.contains(&workload.name), "{} is there twice", workload.name);
            names.push(workload.name);
        }
    }
}
