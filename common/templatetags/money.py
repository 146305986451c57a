"""`{{ amount|dollars }}`: an amount of US dollars as its reader writes it."""

from django import template

from common.text.money import dollars

register = template.Library()
register.filter("dollars", dollars)
