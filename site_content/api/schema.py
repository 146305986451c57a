from common.api.schema import TEXT, Operation, Operations, Parameter, one_of
from site_content.api.views import AcceptTermsSerializer, PageView, SiteView, Terms
from site_content.errors import TermsChanged
from site_content.models import PageVersion

OPERATIONS: Operations = {
    (SiteView, "get"): Operation(
        summary="The site's name, colour and pages",
        description="As the operator chose them. Pages without a text are left out.",
    ),
    (PageView, "get"): Operation(
        summary="A page of the operator's, such as the terms of use",
        description="In the request's language, or another that the page has.",
        parameters=(
            Parameter("page", "Which page.", one_of(*PageVersion.Page.values), required=True, location="path"),
            Parameter("language", "Its language, such as `fr`; `markdown` is empty if it has none.", TEXT),
            Parameter("version", "An earlier version.", TEXT),
        ),
    ),
    (Terms, "get"): Operation(
        summary="The terms of use, and whether you accepted them",
        description="If they must be accepted, starting a battle is refused before with the code `terms_not_accepted`.",
    ),
    (Terms, "post"): Operation(
        summary="Accept the terms of use",
        description="In the name of the person, who has read this `version`, the newest.",
        takes=AcceptTermsSerializer,
        example={"version": 1},
        refuses=(TermsChanged,),
    ),
}
