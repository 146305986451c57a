import pytest

from models_registry.providers.reading.finish_reasons import Finish, meaning_of

SPELLINGS = {
    Finish.STOP: "stop STOP eos eos_token stop_sequence end_turn endTurn EndOfTurn COMPLETE completed finished "
    "stopped_eos stop_token done end normal eot_id",
    Finish.LENGTH: "length LENGTH max_tokens MAX_TOKENS maxTokens max_output_tokens token_limit tokens model_length "
    "max_length context_window_exceeded model_context_window_exceeded truncated ERROR_LIMIT stopped_max",
    Finish.FILTERED: "content_filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT IMAGE_SAFETY sensitive refusal "
    "content_filtered guardrail_intervened ERROR_TOXIC contentFilter policy_violation content-filter",
    Finish.BROKEN_OFF: "error ERROR abort aborted cancelled canceled USER_CANCEL network_error timeout timed_out "
    "time_limit insufficient_system_resource failed interrupted MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL "
    "overloaded rate_limit connection_closed server_shutdown engine_overloaded",
    Finish.CALLS: "tool_calls tool_use function_call TOOL_CALL toolUse tool-calls",
    Finish.UNKNOWN: "unknown OTHER generated LANGUAGE load",
}  # fmt: skip


@pytest.mark.parametrize(
    ("word", "finish"), [(word, finish) for finish, words in SPELLINGS.items() for word in words.split(" ") if word]
)
def test_finish_reason_is_known_by_its_meaning(word: str, finish: Finish):
    assert meaning_of(word) is finish


@pytest.mark.parametrize("word", ["", "null", "None", " ", "NULL", "FINISH_REASON_UNSPECIFIED", "0"])
def test_word_for_null_is_no_finish(word: str):
    assert meaning_of(word) is None
