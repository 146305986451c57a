from django import template

from models_registry.payloads import licence_label

register = template.Library()
register.filter("licence_label", licence_label)
