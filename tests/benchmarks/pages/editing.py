def editor_data(**changes: str) -> dict[str, str]:
    data = {
        "name": "Facts", "description": "", "errors_count": "missing", "parameters": '{"temperature": 0}',
        "prompts-TOTAL_FORMS": "1", "prompts-INITIAL_FORMS": "1", "prompts-0-label": "plain",
        "prompts-0-system": "Be brief.", "prompts-0-question": "Capital of {{ country }}?",
        "prompts-0-follow_ups": "Sure?\n---\nReally?", "prompts-0-examples": "",
        "checks-TOTAL_FORMS": "1", "checks-INITIAL_FORMS": "0", "checks-0-key": "names it",
        "checks-0-kind": "contains_any", "checks-0-shown": "contains_any", "checks-0-weight": "1",
    }  # fmt: skip
    return data | changes
