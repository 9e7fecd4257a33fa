"""Which tests jobs of their own run."""

JOBS = {
    "benchmarks": ("test_gpu_benchmark.py", "test_learning.py", "test_spinn_batches.py"),
    "browser": ("browser/",),
    "examples": ("examples/",),
    "exports": (
        "export/test_operators.py::test_every_registered_part_passes_and_every_row_is_needed",
        "export/test_onnx_int8.py",
        "export/test_onnx_roots.py",
        "export/test_onnx_transformer.py",
        "export/test_onnx_verify.py::test_a_model_of_two_directions",
        "export/test_onnx_verify.py::test_report",
        "export/test_onnx_verify.py::test_what_products_in_8_bits_cost_is_told_of_the_file",
        "export/test_registered_models.py",
        "models/test_weights.py::test_weights_beside_an_onnx_file_are_stored_once",
        "plugins/test_embeddings.py::test_a_third_partys_embedding_is_exported_as_it_is_written",
        "test_cli_export.py",
    ),
    "fuzz": (
        "fuzz/test_fuzzing.py::test_a_turn_of_all_kinds_finds_nothing",
        "runtime/test_steadiness.py",
    ),
    "guides": ("test_guide.py",),
    "js": ("js/",),
    "hostile": (
        "bundle/test_hostile_bundles.py::test_ten_thousand_mutants_are_refused",
        "bundle/test_hostile_mutants.py",
        "runtime/test_telemetry.py::test_nobody_is_looked_up",
    ),
    "kills": ("training/test_killed_runs.py::test_many_kills",),
    "processes": (
        "training/test_killed_processes.py",
        "training/test_team.py::test_two_processes_learn_as_one_with_minibatches_twice_as_large",
    ),
    "publish": (
        "test_cli_train_texts.py::test_from_a_table_to_predictions",
        "training/test_calibrate.py",
        "training/test_contextual_recipe.py",
        "training/test_other_tasks.py",
        "training/test_pair_tables.py::test_from_a_table_to_the_scores_of_its_file",
        "training/test_publish.py",
        "training/test_publish_own_trees.py",
    ),
    "site": ("test_site.py",),
    "spacy": ("spacy_training/test_spacy_project.py",),
    "spark": ("integrations/test_spark_local.py",),
    "versions": ("versions/test_versions.py",),
}
"""What is not run by default but by `.ci/jobs/NAME`: starts of the tests' names."""
