from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from routing.management.head_lines import head_lines
from routing.models import RouterEvaluation, RouterSnapshot
from routing.training.replaying import ReplayResult, TooFewVotes, replay_votes
from routing.training.two_models import GapResult, UnusableFile, evaluate_file


class Command(BaseCommand):
    help = "Replay auto mode on later votes, or on a file of prompts with a weak and a strong model, and store it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--until", type=int, metavar="ORDER", help="number of the last vote to train on")
        parser.add_argument("--file", type=Path, metavar="CSV", help="with the columns prompt, weak_ok and strong_ok")

    def handle(self, *args: object, until: int | None, file: Path | None, **options: object) -> None:
        try:
            if file is not None:
                gap = evaluate_file(file)
                self._print_gap(gap)
                RouterEvaluation.objects.create(source=file.name[:200], votes=gap["later_votes"], result=dict(gap))
                return
            result = replay_votes(until=until)
        except (TooFewVotes, UnusableFile) as error:
            raise CommandError(str(error)) from error
        self._print_replay(result)
        snapshot = RouterSnapshot.objects.in_place(None).published().defer("parameters").first()
        RouterEvaluation.objects.create(snapshot=snapshot, votes=result["later_votes"], result=dict(result))

    def _print_gap(self, gap: GapResult) -> None:
        self.stdout.write("\n".join(head_lines(gap["heads"])))
        self.stdout.write(
            f"weak {gap['weak']:.3f}, strong {gap['strong']:.3f}; APGR {gap['area']:.3f}, CPT50 {gap['cpt50']:.2f}, "
            f"CPT80 {gap['cpt80']:.2f} on {gap['later_votes']:,} prompts, trained on {gap['trained_votes']:,}"
        )

    def _print_replay(self, result: ReplayResult) -> None:
        self.stdout.write("\n".join(head_lines(result["heads"])))
        self.stdout.write(f"{'policy':34} {'wins':>6} {'95 %':>13} {'votes':>7} {'$/prompt':>10} {'first ms':>8}")
        for line in result["lines"]:
            wins, low, high = (
                "–" if value is None else f"{value:.3f}" for value in (line["win_share"], line["low"], line["high"])
            )
            wait = "–" if line["first_token_ms"] is None else f"{line['first_token_ms']:.0f}"
            self.stdout.write(
                f"{line['policy']:34} {wins:>6} {low:>6}–{high:>6} {line['votes']:>7,} {line['cost']:>10.6f} {wait:>8}"
            )
        area = "–" if result["area"] is None else f"{result['area']:.3f}"
        self.stdout.write(
            f"AIQ {area}; Brier {result['calibration']['brier']:.4f}, calibration error "
            f"{result['calibration']['error']:.4f}; "
            f"same choice after changes of case, spacing and quotes {result['same_target']:.1%}"
        )
        for each in result["calibration"]["bins"]:
            self.stdout.write(
                f"  predicted {each['predicted']:.2f}, won {each['observed']:.2f} of {each['votes']:,} votes"
            )
