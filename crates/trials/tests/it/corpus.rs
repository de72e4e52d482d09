//! Every body over its corpus and over thousands of mutations of it: what fuzzing has found once stays found.
//!
//! When one fails it prints the bytes. A finding of the fuzzer becomes a regression when its file lies in
//! `corpus/`.

/// A test for each target: its name, and how many mutations are tried. All together take some seconds.
macro_rules! trials {
    ($($target:ident: $mutations:literal,)*) => {
        $(
            #[test]
            fn $target() {
                crate::support::run(stringify!($target), alula_trials::$target, $mutations);
            }
        )*

        /// No folder of the corpus is without a target.
        #[test]
        fn every_folder_belongs_to_a_target() {
            let folders = crate::support::corpus().read_dir().expect("corpus/");
            let mut names: Vec<String> =
                folders.map(|entry| entry.expect("a folder").file_name().to_string_lossy().into()).collect();
            names.sort();
            assert_eq!(names, [$(stringify!($target)),*]);
        }
    };
}

trials! {
    accept: 5000,
    authority: 5000,
    certificate: 5000,
    conditional: 5000,
    content_coding: 200,
    content_disposition: 5000,
    control_data: 5000,
    cookies: 300,
    credentials: 5000,
    datatype_change: 5000,
    field_name: 2000,
    field_section: 2000,
    field_value: 500,
    forwarded: 5000,
    gzip_header: 5000,
    h1_client: 4000,
    h1_pair: 3000,
    h1_server: 4000,
    h2_client: 500,
    h2_operations: 1000,
    h2_pair: 1000,
    h2_server: 500,
    head: 3000,
    hpack_decode: 1000,
    hpack_round_trip: 1000,
    huffman: 1000,
    index_query: 3000,
    location: 3000,
    multipart: 5000,
    object_fields: 5000,
    priority: 5000,
    proxy_answer: 3000,
    query: 5000,
    retry_after: 5000,
    routes: 20000,
    store_bodies: 5000,
    stored: 5000,
    target: 5000,
    users_file: 2000,
    walk_steps: 5000,
    whole_server: 1000,
}
