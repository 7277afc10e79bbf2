"""Which wrong one breaks which clause. Light: the plugin imports it."""

EXTRACTORS = {
    "right_extractor": None,
    "reads_texts_only": "test_what_was_written_is_read",
    "rewrites_the_body": "test_the_body_is_a_part_of_the_text",
    "loses_the_body": "test_what_stands_beside_the_fields_is_the_body",
    "raises_at_bad_text": "test_bad_text_is_an_answer_and_never_an_exception",
    "knows_few_characters": "test_any_text_is_answered",
    "says_nothing": "test_there_is_an_output_or_an_error",
    "gives_empty_reasons": "test_every_error_says_what_is_wrong",
    "takes_its_time": "test_a_large_text_takes_no_longer_than_it_may",
    "completes_the_schema": "test_the_request_is_left_as_it_was",
    "counts_below_zero": "test_the_usage_is_a_record_of_known_and_unknown",
    "remembers_the_last_text": "test_two_at_once_stay_apart",
    "prints_what_it_reads": "test_it_prints_nothing",
}
JUDGES = {
    "right_judge": None,
    "scores_in_percent": "test_a_score_is_within_0_and_1",
    "likes_everything": "test_a_worse_trial_gets_a_lower_score",
    "scores_what_is_not_there": "test_a_judge_that_cannot_judge_raises",
    "keeps_paths": "test_what_it_keeps_can_be_stored",
    "spends_below_zero": "test_the_usage_is_a_record_of_known_and_unknown",
    "marks_the_record": "test_the_record_is_left_as_it_was",
    "takes_notes": "test_nothing_is_written_outside_the_trial",
    "shares_its_trial": "test_two_at_once_stay_apart",
    "prints_the_score": "test_it_prints_nothing",
}
