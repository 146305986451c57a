from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmarks.imports.codes import Code
from benchmarks.imports.content import Entry, Value

SENTENCES: Mapping[Code, str | Promise] = {
    "cases": _("%(count)s cases are taken."),
    "check": _("The check becomes “%(scorer)s”."),
    "column": _("The column “%(column)s” is taken as %(role)s."),
    "model": _("The model is proposed as an entrant."),
    "replies": _("%(count)s answers are in the file: they can be scored as a run."),
    "column_renamed": _("The column “%(column)s” becomes the variable “%(name)s”."),
    "comparison_assumed": _("The file names no check: answers are compared by “%(scorer)s”."),
    "fewer_examples": _("Only %(limit)s of %(found)s given examples are kept."),
    "key_made_unique": _("The title was changed into the key “%(key)s”, which no other case has."),
    "not_the_likelihood_score": _("The letter of the choice is asked for: this is not the score by likelihood."),
    "prompt_made_of_columns": _("The file has no prompt: one was made of the columns %(columns)s."),
    "rouge_n_as_rouge_l": _("rouge-n becomes “rouge_l”."),
    "single_underscore": _("A column with one underscore is taken as one with two."),
    "temperature_as_metadata": _("The temperatures of the authors are kept as metadata."),
    "check_not_supported": _("This check is not supported."),
    "column_not_used": _("The column “%(column)s” is not used."),
    "examples_not_given": _("The examples are not in the file."),
    "field_not_used": _("The field “%(field)s” is not used."),
    "filter_not_supported": _("This filter is not supported."),
    "key_not_used": _("The key “%(key)s” is not used."),
    "no_check_left": _("No check is left: answers will have no score."),
    "parameter_not_used": _("The parameter “%(parameter)s” is not used."),
    "pattern_not_supported": _("RE2 does not accept this pattern."),
    "provider_not_supported": _("This provider is not supported."),
    "reply_without_case": _("There is no case for this answer."),
    "schema_not_understood": _("The schema was not understood."),
    "transform_not_supported": _("Transformations by code are not run."),
    "value_missing": _("A value is missing."),
    "code_not_run": _("Code is not run."),
    "judge_not_available": _("This needs a judge."),
    "alias_of_itself": _("A YAML alias contains itself."),
    "answer_is_an_error": _("The answer is the message of an error."),
    "answer_is_no_choice": _("The right answer is none of the choices."),
    "answer_not_found": _("The right answer was not found."),
    "archive_in_archive": _("An archive contains another archive."),
    "assertion_not_understood": _("The assertion was not understood."),
    "bytes_in_a_column": _("A column contains bytes, not text."),
    "choices_in_some_cases_only": _("Only some cases have choices."),
    "choices_not_understood": _("The choices were not understood."),
    "column_missing": _("The column “%(column)s” is missing."),
    "column_without_name": _("A column has no name."),
    "content_not_supported": _("This kind of content is not supported."),
    "conversation_not_supported": _("Conversations that run across cases are not supported."),
    "damaged_archive": _("The archive is damaged."),
    "document_too_large": _("A YAML or JSON document may have %(limit)s bytes."),
    "documents_missing": _("The file of documents is missing: put it into the same archive."),
    "duplicate_case": _("The key “%(key)s” is used twice, first on line %(line_of_first)s."),
    "duplicate_column": _("The column “%(name)s” is there twice."),
    "duplicate_file": _("The archive has the same file twice."),
    "duplicate_key": _("A field is there twice."),
    "empty_file": _("The file is empty."),
    "encrypted": _("The file is encrypted."),
    "environment_refused": _("Variables of the environment are not read."),
    "evaluation_not_supported": _("This class of evaluation is not supported."),
    "field_is_no_list_of_texts": _("The field “%(field)s” is not a list of texts."),
    "field_is_no_object": _("The field “%(field)s” is not an object."),
    "field_is_no_text": _("The field “%(field)s” is not a text."),
    "field_missing": _("The field “%(field)s” is missing."),
    "file_includes_itself": _("A file includes itself."),
    "file_is_no_data": _("A file is not given as data."),
    "file_missing": _("The archive does not have this file."),
    "file_outside_archive": _("Only files of the same archive are read."),
    "file_too_large": _("A file may have %(limit)s bytes."),
    "files_not_supported": _("The cases have files: these cannot be imported yet."),
    "format_unknown": _("The format was not found. Choose it."),
    "group_not_supported": _("Groups of tasks are not supported."),
    "key_is_no_text": _("A key is not a text."),
    "key_too_long": _("A key may have %(limit)s characters."),
    "last_message_is_not_the_users": _("The last message is not the user’s."),
    "likelihood_not_available": _("Scores by likelihood are not available."),
    "lone_surrogate": _("A text has half of a character."),
    "mapping_too_large": _("The roles of the columns may have %(limit)s bytes."),
    "messages_not_understood": _("The messages were not understood."),
    "no_cases": _("The file has no case."),
    "no_configuration": _("The archive has no configuration."),
    "no_evaluation": _("The registry names no evaluation."),
    "no_prompts": _("The file has no prompt."),
    "no_records": _("The file has no record."),
    "no_such_sheet": _("The workbook has no sheet “%(sheet)s”."),
    "not_a_number": _("This is not a number."),
    "not_a_spreadsheet": _("The workbook is damaged."),
    "not_an_object": _("This is not an object."),
    "not_csv": _("This is not CSV."),
    "not_finite": _("NaN and infinity are not numbers."),
    "not_json": _("This is not JSON."),
    "not_parquet": _("This is not Parquet."),
    "not_understood": _("The file was not understood."),
    "not_utf8": _("The text is not UTF-8."),
    "not_yaml": _("This is not YAML."),
    "nul": _("A text contains the character NUL."),
    "number_too_large": _("A number is too large."),
    "path_outside_archive": _("A path leads out of the archive."),
    "prompt_from_elsewhere": _("A prompt from an address is not fetched."),
    "prompt_not_understood": _("The prompt was not understood."),
    "question_not_found": _("The question was not found among the fields."),
    "questions_missing": _("These are answers without their questions. Put both files into one archive."),
    "ragged_row": _("The row has %(found)s cells, the heading %(expected)s."),
    "result_too_large": _("The content of the file is too large."),
    "role_unknown": _("The role “%(role)s” of a column is unknown."),
    "rule_unknown": _("The rule “%(rule)s” is unknown."),
    "rules_without_settings": _("The rules have no settings."),
    "sandbox_not_supported": _("Cases that need a sandbox are not supported."),
    "scenario_not_understood": _("The scenario was not understood."),
    "test_not_understood": _("The test was not understood."),
    "text_too_long": _("A text may have %(limit)s characters."),
    "too_deep": _("The content is nested too deeply."),
    "too_demanding": _("Reading the file takes too much time or memory."),
    "too_many_case_files": _("A case may have %(limit)s files."),
    "too_many_cases": _("A template may have %(limit)s cases."),
    "too_many_choices": _("A question may have %(limit)s choices."),
    "too_many_columns": _("A table may have %(limit)s columns; this one has %(found)s."),
    "too_many_errors": _("There are more errors than are listed."),
    "too_many_files": _("An archive may have %(limit)s files."),
    "too_many_includes": _("The files include each other more than %(limit)s times."),
    "too_many_messages": _("A prompt may have %(limit)s messages; this one has %(found)s."),
    "too_many_nodes": _("The content may have %(limit)s values."),
    "too_many_prompts": _("A template may have %(limit)s prompts; this one has %(found)s."),
    "too_many_replies": _("A file may have %(limit)s answers."),
    "too_many_turns": _("A question may have %(limit)s turns; this one has %(found)s."),
    "turns_differ": _("The questions have %(expected)s turns; this one has %(found)s."),
    "unpacks_too_large": _("The file unpacks to more than %(limit)s bytes."),
    "variables_not_understood": _("The variables were not understood."),
    "weight_not_positive": _("A weight must be above 0."),
    "yaml_tag": _("YAML tags are refused."),
}


def sentence_of(entry: Entry) -> str:
    """Return a sentence, with other values in parentheses."""
    values = _Values(entry.values)
    sentence = str(SENTENCES[entry.code]) % values
    others = [f"{name} {value}" for name, value in entry.values.items() if name not in values.used and value != ""]
    return f"{sentence} ({', '.join(others)})" if others else sentence


class _Values(dict[str, Value]):
    """Remembers which values are used."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        super().__init__(values)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        self.used.add(name)
        return self.get(name, "?")
