import csv

import pytest
from django.core.management import CommandError, call_command

from routing.models import RouterEvaluation
from tests.leaderboard.vote_factory import contestants
from tests.routing.prompted_votes import cast_with_prompts
from tests.routing.public_data import FOLDER

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_replay_prints_policies_and_is_stored(capsys):
    ada, bob = contestants("ada", "bob")
    votes = cast_with_prompts(ada, bob, 400)
    call_command("evaluate_router", until=votes[299].order)
    result = RouterEvaluation.objects.get().result
    lines = {line["policy"]: line for line in result["lines"]}
    assert list(lines) == [
        "random", "cheapest", "always the best", "labels only", "router, dial 0.0", "router, dial 0.25",
        "router, dial 0.5", "router, dial 0.75", "router, dial 1.0", "best of each label, in hindsight",
    ]  # fmt: skip
    assert (result["trained_votes"], result["later_votes"]) == (300, 100)
    assert lines["router, dial 1.0"]["win_share"] == pytest.approx(0.9)
    assert lines["best of each label, in hindsight"]["win_share"] == pytest.approx(0.9)
    assert lines["always the best"]["win_share"] < 0.7
    assert lines["router, dial 1.0"]["low"] < 0.9 < lines["router, dial 1.0"]["high"]
    assert result["same_target"] == 1.0
    assert sum(each["votes"] for each in result["calibration"]["bins"]) == 100
    assert "always the best" in capsys.readouterr().out


def test_replay_of_few_votes_is_refused():
    cast_with_prompts(*contestants("ada", "bob"), 40)
    with pytest.raises(CommandError, match="30 of each are needed"):
        call_command("evaluate_router")
    assert not RouterEvaluation.objects.exists()


@pytest.mark.slow
def test_file_of_two_models_is_evaluated(tmp_path, capsys):
    file = tmp_path / "two.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["prompt", "weak_ok", "strong_ok"])
        for number in range(400):
            hard = number % 2
            writer.writerow([f"{'prove the theorem' if hard else 'name the city'} {number}", 1 - hard, 1])
    call_command("evaluate_router", file=file)
    evaluation = RouterEvaluation.objects.get()
    assert (evaluation.source, evaluation.votes) == ("two.csv", 200)
    assert evaluation.result["area"] == pytest.approx(0.75, abs=0.02)
    assert evaluation.result["cpt50"] == pytest.approx(0.25, abs=0.03)
    assert "APGR 0.7" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    ["", "prompt,weak_ok\na,1\n", "prompt,weak_ok,strong_ok\n" + "a,1,2\n" * 100, "prompt,weak_ok,strong_ok\na,0,1\n"],
)  # fmt: skip
def test_unusable_file_is_refused(tmp_path, text):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(CommandError):
        call_command("evaluate_router", file=file)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("evaluate_router", file=FOLDER / "absent.csv")


@pytest.mark.slow
def test_evaluations_are_shown_with_curves(client, administrator):
    client.force_login(administrator)
    ada, bob = contestants("ada", "bob")
    cast_with_prompts(ada, bob, 400)
    call_command("evaluate_router")
    row = RouterEvaluation.objects.get()
    page = client.get(f"/admin/routing/routerevaluation/{row.pk}/change/").text
    assert '<th scope="row">always the best</th>' in page
    assert "<polyline" in page
    assert "Predicted and real wins" in page
    gap = {"area": 0.65, "cpt50": 0.3, "cpt80": 0.6, "curve": [[0, 0], [0.5, 0.7], [1, 1]]}
    row = RouterEvaluation.objects.create(source="two.csv", votes=9, result=gap)
    page = client.get(f"/admin/routing/routerevaluation/{row.pk}/change/").text
    assert "CPT50" in page
    assert 'points="20.0,190.0 200.0,64.0 380.0,10.0"' in page
    assert client.get("/admin/routing/routerevaluation/").status_code == 200
