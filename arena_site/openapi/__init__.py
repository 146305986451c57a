"""The API described in OpenAPI, from what each app says of its operations, and its documentation as a page."""
