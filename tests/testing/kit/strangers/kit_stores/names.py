"""Which wrong store breaks which clause. Light: the plugin imports it."""

IN_MEMORY = {
    "misannounced": "test_it_is_registered",
    "nowhere": "test_it_is_a_backend",
    "cuts_payloads": "test_a_record_comes_back_in_every_column",
    "trips_over_other_words": "test_what_was_never_put_is_not_there",
    "forgets_the_first_put": "test_put_again_only_touches",
    "overwrites": "test_put_never_overwrites_another_payload",
    "overwrites_many": "test_many_at_once_are_put_as_one_by_one",
    "reads_all_ahead": "test_many_contents_at_once",
    "asks_for_few": "test_present_names_those_that_are_there",
    "finds_all": "test_find_gives_the_references_that_begin_so",
    "mixes_types": "test_records_come_all_or_of_one_type",
    "graphs_the_first_put": "test_the_graph_of_all_records",
    "deletes_what_was_touched": "test_delete_spares_what_was_touched_since",
    "rolls_back_half": "test_all_of_a_transaction_or_nothing",
    "nests": "test_transactions_do_not_nest",
    "makes_twice": "test_a_variable_moves_only_from_where_it_is",
    "deletes_anyway": "test_a_variable_goes_only_from_where_it_is",
    "lists_from_the_start": "test_variables_by_prefix_tags_and_window",
    "drops_odd_tags": "test_tags_are_any_text",
    "joins_tags_as_they_came": "test_variables_as_texts",
    "forgets_names_that_are_asked_for": "test_variables_that_may_be_left_out",
    "releases_for_others": "test_a_lock_is_held_by_one",
    "locks_by_looking": "test_asking_for_the_holder_never_takes_the_lock",
    "graphs_what_was_deleted": "test_what_was_deleted_is_nowhere",
    "records_what_was_deleted": "test_what_was_deleted_is_nowhere",
    "remembers_the_first_put_of_all": "test_what_was_deleted_is_nowhere",
    "cuts_long_names": "test_names_may_be_long",
    "refuses_long_names_of_locks": "test_names_may_be_long",
    "belongs_to_one_thread": "test_any_thread_can_use_it",
    "drops_the_edges": "test_a_record_comes_back_in_every_column",
    "counts_what_it_was_asked_to_delete": "test_delete_spares_what_was_touched_since",
    "commits_in_spite_of_an_error": "test_all_of_a_transaction_or_nothing",
    "skips_after_it_has_limited": "test_variables_by_prefix_tags_and_window",
    "forgets_when_nodes_were_first_put": "test_a_commit_stores_nodes_and_variables",
    "commits_what_it_can": "test_a_commit_with_a_conflict_stores_nothing",
    "hides_another_payload": "test_a_commit_reports_another_payload_under_a_reference",
    "commits_without_its_locks": "test_a_commit_needs_its_locks",
    "rejects_an_empty_commit": "test_an_empty_commit_is_none",
}
PERSISTENT = {
    "ignores_its_url": "test_another_url_is_another_store",
    "lets_everybody_read": "test_only_the_user_can_read_its_files",
    "passes_system_errors_on": "test_every_error_is_a_store_error",
    "gives_no_hint": "test_every_error_is_a_store_error",
}
SHARED = {
    "shows_what_is_under_way": "test_others_see_a_transaction_only_when_it_is_over",
    "loses_quick_writes": "test_what_was_stored_is_there_after_opening_again",
    "keeps_locks_when_closed": "test_a_lock_is_seen_and_respected_by_others",
    "checks_and_then_sets": "test_of_many_processes_exactly_one_makes_a_variable",
    "loses_updates": "test_no_update_of_many_processes_is_lost",
    "looks_and_then_locks": "test_of_many_processes_exactly_one_gets_a_lock",
    "is_made_once_only": "test_many_first_openings_at_once",
    "trusts_its_lock_files": "test_a_killed_process_holds_nothing",
    "finishes_what_was_killed": "test_a_writer_killed_before_its_commit_leaves_nothing",
    "is_busy_while_others_write": "test_a_reader_beside_a_writer_sees_whole_transactions",
    "takes_a_lock_to_look_at_it": "test_looking_at_a_lock_never_makes_it_fail",
    "passes_locks_on_to_programs": "test_programs_do_not_inherit_a_lock",
    "unlinks_locks_in_use": "test_a_released_lock_goes_to_exactly_one",
    "reads_on_within_a_snapshot": "test_a_snapshot_does_not_see_what_others_write",
}
BREAKS = {**IN_MEMORY, **PERSISTENT, **SHARED}

_STORES = "test_a_commit_stores_nodes_and_variables"
_CONFLICT = "test_a_commit_with_a_conflict_stores_nothing"
_LOCKS = "test_a_commit_needs_its_locks"
_MANY = "test_many_at_once_are_put_as_one_by_one"
ALSO_BREAKS = {
    "trusts_its_lock_files": {"test_programs_do_not_inherit_a_lock", _LOCKS},
    "forgets_the_first_put": {_MANY, _STORES},
    "overwrites": {_MANY},
    "overwrites_many": {_STORES},
    "rolls_back_half": {_CONFLICT},
    "makes_twice": {_CONFLICT},
    "deletes_anyway": {_CONFLICT},
    "releases_for_others": {_LOCKS},
    "keeps_locks_when_closed": {_LOCKS},
    "looks_and_then_locks": {_LOCKS},
}
"""Their bug is what another clause tests as well."""

OF_LEASES = {
    "test_a_stopped_process_loses_its_lease",
    "test_a_lease_that_is_renewed_reports_no_loss",
}
"""Only a database with leases can break them: `tests/postgres` tries it."""
