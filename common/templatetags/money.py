from django import template

from common.text.money import dollars

register = template.Library()
register.filter("dollars", dollars)
