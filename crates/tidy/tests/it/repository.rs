//! The rules of this repository, held against the repository. What each rule is for stands beside its check.

use alula_tidy::{Source, Workspace};

#[track_caller]
fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

fn sources() -> Vec<Source> {
    Source::load_all().expect("the repository can be read")
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let workspace = Workspace::load().expect("cargo metadata");
    assert_none(&alula_tidy::check_layers(&workspace.packages));
}

#[test]
fn the_architecture_shows_the_table_of_layers() {
    let sources = sources();
    let page = sources.iter().find(|source| source.path == "ARCHITECTURE.md").expect("ARCHITECTURE.md");
    let table = alula_tidy::layers_as_markdown();
    assert!(page.text.contains(&table), "ARCHITECTURE.md must contain:\n{table}");
}

#[test]
fn the_page_of_limits_shows_the_defaults() {
    let is_current = alula_tidy::check_limits().expect("docs/limits.md and the sources can be read");
    assert!(is_current, "docs/limits.md is stale: `cargo xtask limits --write`");
}

#[test]
fn the_facade_compiles_few_crates() {
    let crates = alula_tidy::crates_compiled().expect("cargo tree");
    let max = alula_tidy::CRATES_MAX;
    assert!(crates.contains("alula v0.1.0"), "{crates:?}");
    assert!(crates.len() <= max, "{} crates, {max} at most: {crates:#?}", crates.len());
}

#[test]
fn folders_of_the_product_have_few_entries() {
    assert_none(&alula_tidy::check_rooms(&sources()));
}

#[test]
fn methods_stand_in_the_folder_of_their_type() {
    assert_none(&alula_tidy::check_impls(&sources()));
}

#[test]
fn records_have_few_fields() {
    assert_none(&alula_tidy::check_records(&sources()));
}

#[test]
fn imports_name_the_module_that_defines_a_thing() {
    assert_none(&alula_tidy::check_imports(&sources()));
}

#[test]
fn files_of_a_crate_import_each_other_in_small_circles_only() {
    assert_none(&alula_tidy::check_circles(&sources()));
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    assert_none(&alula_tidy::check_paths(&sources()));
}

#[test]
fn rfcs_are_cited_in_one_form() {
    assert_none(&alula_tidy::check_citations(&sources()));
}

#[test]
fn crate_roots_forbid_unsafe_code_and_low_layers_forgo_std() {
    assert_none(&alula_tidy::check_attributes(&sources()));
}

#[test]
fn manifests_take_their_rules_from_the_workspace() {
    assert_none(&alula_tidy::check_manifests(&sources()));
}

#[test]
fn documentation_names_the_crate_that_users_have() {
    assert_none(&alula_tidy::check_examples(&sources()));
}

#[test]
fn every_parser_has_a_fuzz_target() {
    assert_none(&alula_tidy::check_parsers(&sources()));
}

#[test]
fn documents_name_commands_that_exist() {
    assert_none(&alula_tidy::check_commands(&sources()));
}

#[test]
fn documents_name_files_that_exist() {
    assert_none(&alula_tidy::check_files(&sources()));
}

#[test]
fn the_command_writes_to_terminals_through_its_gate() {
    assert_none(&alula_tidy::check_terminals(&sources()));
}

#[test]
fn tests_that_run_alone_are_all_listed() {
    assert_none(&alula_tidy::check_alone(&sources()));
}
