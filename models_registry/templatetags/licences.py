"""`{{ licence|licence_words }}`: the name of a licence, or the words for its kind."""

from django import template

from models_registry.payloads import licence_words

register = template.Library()
register.filter("licence_words", licence_words)
