"""The API's OpenAPI document and documentation page."""
