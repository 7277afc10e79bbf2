"""Which wrong store breaks which clause. Light: the plugin imports it."""

IN_MEMORY = {
    "misannounced": "test_it_is_registered",
    "nowhere": "test_it_is_a_backend",
    "cuts_payloads": "test_a_record_comes_back_in_every_column",
    "trips_over_other_words": "test_what_was_never_put_is_not_there",
    "forgets_the_first_put": "test_put_again_only_touches",
    "overwrites": "test_put_never_overwrites_another_payload",
    "overwrites_many": "test_many_at_once_are_put_as_one_by_one",
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
    "releases_for_others": "test_a_lock_is_held_by_one",
    "locks_by_looking": "test_asking_for_the_holder_never_takes_the_lock",
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
}
BREAKS = {**IN_MEMORY, **SHARED}
