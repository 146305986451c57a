from django.urls import path

from benchmarks.views import answers, case_files, imports, listing, reports, runs, starting, templates

app_name = "benchmarks"

urlpatterns = [
    path("", listing.index, name="list"),
    path("new/", starting.new, name="new"),
    path("import/", imports.preview, name="import"),
    path("import/columns/", imports.columns, name="import_columns"),
    path("import/apply/", imports.apply, name="import_apply"),
    path("heatmap/", reports.heat_map, name="heatmap"),
    path("t/<str:public_id>/", templates.show, name="template"),
    path("t/<str:public_id>/edit/", templates.edit, name="edit"),
    path("t/<str:public_id>/cases/", templates.cases, name="cases"),
    path("t/<str:public_id>/cases/<int:case_id>/files/", case_files.edit, name="case_files"),
    path("t/<str:public_id>/files/<int:file_id>/", case_files.template_file, name="template_file"),
    path("t/<str:public_id>/paste/", templates.paste, name="paste"),
    path("t/<str:public_id>/draft/", templates.draft, name="draft"),
    path("t/<str:public_id>/copy/", templates.copy, name="copy"),
    path("t/<str:public_id>/changes/", templates.changes, name="changes"),
    path("t/<str:public_id>/export.yaml", templates.export, name="export_template"),
    path("t/<str:public_id>/start/", runs.start, name="start"),
    path("r/<str:public_id>/", runs.show, name="run"),
    path("r/<str:public_id>/budget/", runs.budget, name="budget"),
    path("r/<str:public_id>/do/<str:move>/", runs.move, name="move"),
    path("r/<str:public_id>/export.<str:ending>", runs.export, name="export"),
    path("r/<str:public_id>/matrix/", answers.matrix, name="matrix"),
    path("r/<str:public_id>/compare/", reports.compare, name="compare"),
    path("r/<str:public_id>/report/", reports.report, name="report"),
    path("r/<str:public_id>/report.html", reports.report_file, name="report_file"),
    path("r/<str:public_id>/publish/", reports.publish, name="publish"),
    path("r/<str:public_id>/items/<int:item_id>/", answers.item, name="item"),
    path("r/<str:public_id>/items/<int:item_id>/grade/", answers.grade, name="grade"),
    path("r/<str:public_id>/case/<int:case_id>/", answers.case, name="case"),
    path("r/<str:public_id>/files/<int:file_id>/", case_files.run_file, name="run_file"),
    path("stream/<str:token>/", runs.stream, name="stream"),
]
