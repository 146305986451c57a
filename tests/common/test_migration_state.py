import pytest
from django.db import models
from django.db.migrations import operations
from django.db.migrations.state import ProjectState

from common.db.migration_state import new_models_rendered_alone

TO_AUTHOR = models.ForeignKey("letters.Author", models.CASCADE)
ID = ("id", models.BigAutoField(primary_key=True))


@pytest.fixture
def state() -> ProjectState:
    state = ProjectState()
    operations.CreateModel("Author", [ID]).state_forwards("letters", state)
    operations.CreateModel("Letter", [ID, ("author", TO_AUTHOR)]).state_forwards("letters", state)
    assert state.apps.get_model("letters", "Letter")
    return state


def test_new_model_leaves_related_classes_as_they_are(state: ProjectState):
    before = state.apps.get_model("letters", "Author")
    with new_models_rendered_alone():
        operations.CreateModel("Parcel", [ID, ("author", TO_AUTHOR)]).state_forwards("letters", state)
    parcel, author = state.apps.get_model("letters", "Parcel"), state.apps.get_model("letters", "Author")
    assert author is before
    assert parcel._meta.get_field("author").related_model is author
    assert {each.related_model for each in author._meta.related_objects} == {
        state.apps.get_model("letters", "Letter"), parcel,
    }  # fmt: skip
    assert author().parcel_set.model is parcel


def test_later_change_of_a_model_reaches_new_relations(state: ProjectState):
    with new_models_rendered_alone():
        operations.CreateModel("Parcel", [ID, ("author", TO_AUTHOR)]).state_forwards("letters", state)
        operations.AddField("Author", "name", models.TextField()).state_forwards("letters", state)
    author = state.apps.get_model("letters", "Parcel")._meta.get_field("author").related_model
    assert author is state.apps.get_model("letters", "Author")
    assert author._meta.get_field("name")
