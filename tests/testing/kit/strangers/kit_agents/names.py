"""Which wrong agent breaks which clauses; the first is right. (Light: the plugin imports it.)"""

CAPABILITIES = frozenset(("continue", "fork", "ask", "stream", "structured", "usage", "tools"))

BREAKS = {
    "right": (),
    "changes_line_ends": ("test_text_comes_back_byte_for_byte",),
    "trims_the_prompt": ("test_a_prompt_arrives_byte_for_byte",),
    "cuts_long_answers": ("test_a_large_answer_comes_whole",),
    "sorts_objects": ("test_an_object_comes_back_as_it_is",),
    "counts_what_is_unknown": ("test_usage_is_what_the_peer_reports",),
    "calls_unknown_zero": ("test_unknown_usage_is_none_and_never_zero",),
    "tells_no_turns": ("test_turns_are_reported_as_they_come",),
    "tells_another_turn": ("test_turns_are_reported_as_they_come",),
    "tells_turns_at_the_end": ("test_turns_are_reported_while_the_agent_works",),
    "tells_the_session_at_the_end": ("test_a_session_is_reported_while_the_agent_works",),
    "sends_only_the_instruction": ("test_a_prompt_arrives_byte_for_byte",),
    "offers_every_tool": ("test_tools_can_be_narrowed",),
    "fails_at_a_denial": ("test_a_denied_tool_is_shown_and_no_failure",),
    "writes_elsewhere": ("test_the_working_folder_is_honoured",),
    "leaks_our_environment": ("test_the_environment_is_that_of_the_call",),
    "trusts_the_locale": ("test_it_works_in_the_c_locale",),
    "crashes_where_nothing_is": ("test_a_missing_program_is_unavailable",),
    "answers_for_a_crash": ("test_a_nonzero_exit_is_a_crash",),
    "passes_garbage_on": ("test_garbage_is_a_failure",),
    "takes_half_an_answer": ("test_a_cut_answer_is_a_failure",),
    "speaks_for_the_silent": ("test_silence_is_empty",),
    "knows_one_kind_of_failure": ("test_each_failure_has_its_kind",),
    "gives_the_end_of_a_limit_in_seconds": ("test_the_end_of_a_limit_is_in_ms_since_1970",),
    "gives_the_length_of_a_limit": ("test_the_end_of_a_limit_is_in_ms_since_1970",),
    "decodes_strictly": ("test_bytes_that_are_not_text_break_nothing",),
    "cuts_at_the_limit": ("test_a_reply_over_the_limit_is_too_large",),
    "refuses_instead_of_asking": ("test_a_question_to_a_person_has_a_form",),
    "asks_for_no_schema": ("test_a_question_to_a_person_has_a_form",),
    "never_passes_an_answer_on": ("test_the_answer_of_a_person_arrives",),
    "passes_an_answer_on_as_json": ("test_the_answer_of_a_person_arrives",),
    "ignores_the_time_limit": ("test_a_hang_ends_at_the_time_limit",),
    "takes_what_came_before_a_hang": ("test_a_hang_after_the_answer_ends_at_the_time_limit",),
    "ignores_cancel": ("test_cancel_ends_the_call",),
    "leaves_a_daemon_at_a_timeout": ("test_a_timeout_leaves_no_process",),
    "leaves_a_daemon": ("test_a_finished_call_leaves_no_process",),
    "leaves_a_thread": ("test_a_finished_call_leaves_no_thread",),
    "leaves_stdin_open": ("test_standard_input_has_an_end",),
    "insists_on_writing": ("test_a_program_need_not_read_its_input",),
    "litters": ("test_nothing_is_written_outside",),
    "lets_everybody_read": ("test_what_it_keeps_is_private",),
    "prints": ("test_it_prints_nothing",),
    "tells_secrets": ("test_secrets_are_never_reported",),
    "shares_what_it_does": ("test_two_runs_at_once_stay_apart",),
    "cannot_be_closed_unused": ("test_it_can_be_closed_unused",),
    "cannot_be_closed_after_a_failure": ("test_it_can_be_closed_after_a_failure",),
}
ABOUT_SESSIONS = {
    "remarks_that_it_continues": ("test_a_session_is_continued_and_proven",),
    "continues_another_one": (
        "test_a_continued_session_knows_what_was_said",
        "test_a_session_keeps_every_message",
    ),
    "continues_with_the_instruction_only": ("test_a_prompt_to_a_session_arrives_whole",),
    "keeps_the_first_message_only": ("test_a_session_keeps_every_message",),
    "has_one_session_per_thread": ("test_a_new_session_is_a_new_one",),
    "keeps_the_session_for_itself": (
        "test_a_session_is_reported_as_soon_as_it_is_known",
        "test_a_session_is_reported_while_the_agent_works",
    ),
    "crashes_where_a_session_is_gone": ("test_a_session_that_is_gone_is_reported",),
    "takes_a_new_session_for_the_old_one": ("test_a_session_that_was_replaced_is_never_accepted",),
    "adds_usage_up": ("test_usage_is_of_this_call_alone",),
    "spends_the_session_by_forking": ("test_a_fork_is_another_session",),
    "tells_the_origin_of_a_fork": ("test_a_fork_tells_its_origin_nothing",),
    "forks_with_a_prompt": (),
    "tells_the_origin_of_a_copy": (
        "test_a_fork_tells_its_origin_nothing",
        "test_a_question_to_a_fork_leaves_the_session_alone",
    ),
    "forks_what_is_gone": ("test_a_session_that_is_gone_cannot_be_forked",),
    "trims_answers_to_questions": ("test_a_question_to_a_session_is_answered",),
    "forks_the_whole_session_at_a_mark": ("test_a_fork_at_a_mark_ends_there",),
    "asks_the_origin_of_a_fork": ("test_a_question_to_a_fork_leaves_the_session_alone",),
    "asks_another_session": ("test_a_question_is_asked_in_its_session",),
    "asks_nobody": ("test_a_question_is_asked_in_its_session",),
    "proves_no_answer": ("test_a_question_is_asked_in_its_session",),
    "asks_with_every_tool": ("test_a_question_narrows_the_tools_as_well",),
    "takes_no_tools_for_all": ("test_a_question_narrows_the_tools_as_well",),
    "pretends_to_remember": ("test_a_question_without_a_session_is_answered_from_the_record",),
    # Without proof nothing that continues is believed.
    "shows_no_proof": (
        "test_a_session_is_continued_and_proven",
        "test_a_continued_session_knows_what_was_said",
        "test_a_prompt_to_a_session_arrives_whole",
        "test_a_session_keeps_every_message",
        "test_usage_is_of_this_call_alone",
        "test_a_fork_is_another_session",
        "test_a_fork_tells_its_origin_nothing",
        "test_a_fork_at_a_mark_ends_there",
    ),
}
BREAKS |= ABOUT_SESSIONS
NAMES = tuple(BREAKS)

ANNOUNCED_WRONGLY = {
    "rambling": "test_it_is_registered",
    "heavy": "test_importing_it_is_light",
    "greedy": "test_importing_it_is_light",
    "chatty_import": "test_importing_it_does_nothing",
    "unbounded": "test_its_distribution_bounds_the_core",
    "mutable_options": "test_every_option_has_a_default",
    "loose_options": "test_options_refuse_what_they_do_not_know",
}
"""Those whose fault is in their announcement; each has a plugin module of its own name."""

WITH_PROGRAMS = (
    "right",
    "leaves_a_daemon_at_a_timeout",
    "leaves_a_daemon",
    "leaves_stdin_open",
    "insists_on_writing",
)
"""Those that are tried with real programs."""
