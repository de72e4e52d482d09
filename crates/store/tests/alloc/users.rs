//! A users file takes memory by its length, whoever is in its groups.

use alula_store::access::Users;

const USERS: usize = 1_000;
const GRANTS: usize = 1_000;

pub(crate) fn users_share_what_their_groups_may_do() {
    let grants: Vec<_> = (0..GRANTS)
        .map(|number| format!("{{ allow = ['get'], type = 'default', bucket = 'b{number}' }}"))
        .collect();
    let mut text =
        format!("[groups.all]\ngrants = [{all}]\n[groups.some]\ngrants = [{all}]\n", all = grants.join(", "));
    for number in 0..USERS {
        let digest = format!("{number:064x}");
        text +=
            &format!("[users.u{number}]\ncertificates = ['sha256:{digest}']\ngroups = ['some', 'some']\n");
    }
    let (users, peak) = alula_tally::peak(|| Users::parse(&text).expect("users"));
    assert_eq!(users.count(), USERS);
    assert!(peak < 64 * text.len() as u64, "{peak} bytes for a file of {}", text.len());
}
