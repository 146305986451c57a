"""The API's OpenAPI document, from the operations that each app describes, and its documentation page."""
