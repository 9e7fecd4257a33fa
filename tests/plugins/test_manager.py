"""The plugin manager, against real .dist-info folders and fake built-in plugins."""

import re
import signal
import sys
import warnings
from pathlib import Path

import pytest

from thinstack._version import __version__
from thinstack.errors import MissingExtraError, PluginError, UnknownNameError
from thinstack.plugins import manager as manager_module
from thinstack.plugins.kinds import HOOKS, KINDS
from thinstack.plugins.manager import PluginManager, PluginRecord, PluginWarning, builtin_modules

SPECS = """
from pathlib import Path
from thinstack.plugins import hookimpl
def cell(name):
    return type("Fake", (), {"plugin_kind": "cell", "name": name, "summary": __name__})
def head(name):
    return type("Fake", (), {"plugin_kind": "head", "name": name, "summary": __name__})
"""


def hook(code, name="thinstack_cells", marker="hookimpl"):
    """A module with this hook."""
    return f"{SPECS}\n@{marker}\ndef {name}():\n    {code}\n"


def cells(*names):
    """A module that provides cells of these names; `summary` of each is the module's name."""
    return hook(f"return [cell(name) for name in {names!r}]")


UNPRINTABLE = "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd"


def bundles(value):
    """A module that provides these as bundles."""
    return hook(f"return {value}", "thinstack_bundles")


BROKEN = {
    "raises_on_import": ("raise OSError('disk on fire')", "on import: OSError: disk on fire"),
    "lacks_a_module": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such"),
    "raises_in_hook": (hook("raise ValueError('a')"), "in hook thinstack_cells: ValueError: a"),
    "raises_late": (hook("yield cell('a.v1')\n    raise ValueError('late')"), "ValueError: late"),
    "misspelt": (hook("return []", "thinstack_cell"), "unknown hook 'thinstack_cell'"),
    "hookless": ("", "no hook found (one of " + ", ".join(HOOKS)),
    "wrong_argument": (
        hook("pass").replace("s()", "s(registry)"),
        "definition: thinstack_cells(regi",
    ),
    "returns_none": (hook("pass"), "subclasses of thinstack.plugins.Cell, found None"),
    "mixes_kinds": (hook("return [cell('bare.v1')]", "thinstack_heads"), "plugins.TaskHead"),
    "names_no_folders": (bundles("['tiny']"), "found ['tiny']"),
    "no_name_of_a_bundle": (bundles("{'a/b': Path('/')}"), "bundle name 'a/b': expected letters"),
    "no_path": (bundles("{'tiny': '/model'}"), "Path(__file__).parent / 'model', found '/model'"),
    "interrupts": ("raise KeyboardInterrupt", "on import: KeyboardInterrupt: "),
    "unprintable": (UNPRINTABLE, "on import: an error whose message cannot be printed"),
    "long": ("raise OSError('x' * 10**7)", "on import: OSError: " + "x" * 900),
    "no_summary": (hook("a = cell('a.v1')\n    a.summary = 5\n    yield a"), "_cells: TypeError"),
    "half_marked": (cells("a.v1") + "\ndef thinstack_heads(): ...", "thinstack_heads: add"),
    "bad_name": (cells("Unversioned"), "cell name 'Unversioned' of Fake is not versioned"),
}
"""Modules of plugins and what is said of them."""


def outcomes(plugins, *fields):
    """These fields of each record."""
    return [tuple(getattr(record, field) for field in fields) for record in plugins.records()]


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_recorded_and_reported_and_harms_no_other(site, case):
    source, error = BROKEN[case]
    site.install("broken-dist", case, source)
    site.install("a-good-dist", "good_before", cells("before.v1"))
    site.install("z-good-dist", "good_after", cells("after.v1"))
    with pytest.warns(PluginWarning) as caught:
        plugins = site.manager()

    [report] = map(str, (each.message for each in caught))
    assert f"{case!r} of broken-dist 1.2" in report
    assert error in report
    before, failed, after = plugins.records()
    assert before == PluginRecord(
        "before.v1", "cell", "a-good-dist", "1.2", "ok", None, "", "good_before"
    )
    assert (after.name, after.distribution, after.status) == ("after.v1", "z-good-dist", "ok")
    assert failed == PluginRecord(case, "plugin", "broken-dist", "1.2", "failed", failed.error)
    assert error in failed.error
    assert len(failed.error) < 2000
    assert plugins.find("cell", "before.v1").summary == "good_before"
    assert plugins.find("cell", "after.v1").summary == "good_after"


@pytest.mark.parametrize("handler", [signal.default_int_handler, "alarm"])
def test_ctrl_c_and_limits_of_time_end_the_import(site, handler):
    """They are no faults of the plugin that is imported meanwhile."""

    def alarm(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGINT, alarm if handler == "alarm" else handler)
    source = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)"
    site.install("slow-dist", "slow", source)
    try:
        with pytest.raises(TimeoutError if handler == "alarm" else KeyboardInterrupt):
            site.manager().records()
    finally:
        signal.signal(signal.SIGINT, before)


def test_one_bad_hook_leaves_the_plugins_other_hook(site):
    heads = hook("raise ValueError('boom')", "thinstack_heads")
    site.install("half", "half_broken", cells("whole.v1") + heads)
    with pytest.warns(PluginWarning, match="thinstack_heads: ValueError: boom"):
        plugins = site.manager()
    assert outcomes(plugins, "name", "status") == [("whole.v1", "ok"), ("half_broken", "failed")]


def test_a_wrapper_of_one_plugin_does_not_reach_another(site):
    stolen = "yield\n    return [[cell('stolen.v1')]]"
    site.install("a-thief", "thief", hook(stolen, marker="hookimpl(wrapper=True)"))
    site.install("victim", "victim", cells("mine.v1"))
    plugins = site.manager()
    assert plugins.find("cell", "mine.v1").summary == "victim"


def test_a_plugin_may_wrap_its_own_hook_and_may_provide_nothing(site):
    marker = "hookimpl(wrapper=True, specname='thinstack_cells')"
    wrapper = hook("return (yield)", "watch", marker)
    site.install("a-wrapped", "wrapped", cells("wrapped.v1") + wrapper)
    site.install("empty", "empty_one", cells())
    plugins = site.manager()
    found = outcomes(plugins, "name", "kind", "status")
    assert found == [("wrapped.v1", "cell", "ok"), ("empty_one", "plugin", "ok")]


def test_builtins_come_first_then_distributions_in_order(site):
    site.install("zeta", "m_zeta", cells("z.v1"), entry="same")
    site.install("alpha", "m_alpha", cells("a.v1"), entry="same")
    heads = hook("return [head('own.v1')]", "thinstack_heads")
    site.write("fake_builtin", heads)
    plugins = site.manager(builtins=("fake_builtin",), blocked=("thinstack", "fake_builtin"))
    assert outcomes(plugins, "name", "kind", "distribution") == [
        ("own.v1", "head", "thinstack"),
        ("a.v1", "cell", "alpha"),
        ("z.v1", "cell", "zeta"),
    ]
    assert plugins.find("head", "own.v1").summary == "fake_builtin"


def test_an_unknown_name_lists_the_known_ones_of_its_kind(site):
    heads = hook("return [head('h.v1')]", "thinstack_heads")
    site.install("mine", "m_mine", cells("b.v1", "a.v1") + heads)
    plugins = site.manager()
    with pytest.raises(UnknownNameError, match=r"unknown cell 'h\.v1'; known: a\.v1, b\.v1$"):
        plugins.find("cell", "h.v1")
    with pytest.raises(UnknownNameError, match=r"unknown head 'a\.v1'; known: h\.v1$"):
        plugins.find("head", "a.v1")


@pytest.mark.parametrize("second", ["m_second", "m_first"])
def test_two_providers_of_one_name_are_both_named(site, second):
    """One module may be that of two distributions, of which one took the place of the other."""
    source = cells("same.v1", "only.v1") if second == "m_first" else cells("same.v1")
    site.install("first", "m_first", cells("same.v1", "only.v1"))
    site.install("second", second, source, version="7.0", entry="other")
    with pytest.warns(PluginWarning) as caught:
        plugins = site.manager()
    said = [str(report.message) for report in caught]
    assert any(line.startswith("cell 'same.v1' of first 1.2 was") for line in said)
    assert any(line.startswith("cell 'same.v1' of second 7.0 was") for line in said)
    both = r"first 1\.2 \(entry point 'm_first'\) and by second 7\.0 \(entry point 'other'\)"
    with pytest.raises(PluginError, match=both):
        plugins.find("cell", "same.v1")
    assert ("same.v1", "ok") not in outcomes(plugins, "name", "status")
    if second == "m_second":
        assert plugins.find("cell", "only.v1").summary == "m_first"


def test_a_builtin_keeps_its_name(site):
    site.write("fake_builtin", cells("own.v1"))
    site.install("a-rival", "m_rival", cells("own.v1"))
    said = r"of a-rival 1\.2 was left out: .*thinstack .* \(built in\) and by a-rival"
    with pytest.warns(PluginWarning, match=said) as caught:
        plugins = site.manager(builtins=("fake_builtin",))
    assert len(caught) == 1
    assert plugins.find("cell", "own.v1").summary == "fake_builtin"
    found = outcomes(plugins, "distribution", "status")
    assert found == [("thinstack", "ok"), ("a-rival", "failed")]


CLASS = """
class Mine:
    plugin_kind, name, summary = "cell", {name!r}, __name__
"""


def test_an_entry_point_may_name_a_class(site):
    site.install("a-good", "m_mine", CLASS.format(name="mine.v1"), names="Mine")
    site.install("bad", "m_bad", CLASS.format(name="bad"), names="Mine")
    site.install("none", "m_none", CLASS.format(name="none.v1"), names="Yours")
    odd = "class Odd:\n    def __eq__(self, _): raise OSError\n    __hash__ = None\none = Odd()"
    site.install("object", "m_object", odd, names="one")
    with pytest.warns(PluginWarning):
        plugins = site.manager()
    good, *failed = plugins.records()
    assert good == PluginRecord("mine.v1", "cell", "a-good", "1.2", "ok", None, "", "m_mine")
    assert plugins.find("cell", "mine.v1").summary == "m_mine"
    said = ["cell name 'bad'", "'Yours'", "found <m_object.Odd"]
    assert all(part in each.error for part, each in zip(said, failed, strict=True))


@pytest.mark.parametrize("variable", ["my_entry", " My.Dist ,,other", "my_dist"])
def test_a_blocked_plugin_is_listed_but_not_imported(site, monkeypatch, variable):
    site.install("my-dist", "m_blocked", "raise OSError('imported')", entry="my_entry")
    site.install("good", "m_good", cells("good.v1"))
    monkeypatch.setenv("THINSTACK_BLOCK_PLUGINS", variable)
    plugins = PluginManager(builtins=(), entry_points=site.entry_points())
    good, blocked = plugins.records()
    assert "m_blocked" not in sys.modules
    assert (good.name, good.status) == ("good.v1", "ok")
    assert blocked == PluginRecord("my_entry", "plugin", "my-dist", "1.2", "blocked", blocked.error)
    assert "THINSTACK_BLOCK_PLUGINS" in blocked.error


def test_what_only_lacks_torch_is_unavailable_and_nobody_is_warned(site, monkeypatch):
    site.write("fake_builtin", "import torch\n" + cells("own.v1"))
    site.install("mine", "m_mine", cells("light.v1"))
    monkeypatch.setitem(sys.modules, "torch", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plugins = site.manager(builtins=("fake_builtin",))
    unavailable, light = plugins.records()
    assert (unavailable.name, unavailable.status) == ("fake_builtin", "unavailable")
    assert light.status == "ok"
    assert "pip install torch, or install thinstack with the extra 'train'" in unavailable.error
    assert plugins.find("cell", "light.v1").summary == "m_mine"
    with pytest.raises(MissingExtraError, match="torch"):
        plugins.find("cell", "own.v1")
    with pytest.raises(UnknownNameError, match=r"unknown reader 'own\.v1'; known: none"):
        plugins.find("reader", "own.v1")


# Plugins that are there for real may warn.


@pytest.mark.filterwarnings("ignore::thinstack.plugins.manager.PluginWarning")
def test_the_command_shows_what_failed_beside_what_works(site, cli, monkeypatch):
    source, error = BROKEN["misspelt"]
    site.install("broken-dist", "misspelt", source)
    site.install("good-dist", "m_good", cells("good.v1"))
    monkeypatch.setenv("COLUMNS", "400")
    records, shown = cli("plugins", "--json").json, cli("plugins").out
    status = {(record["distribution"], record["name"]): record["status"] for record in records}
    assert status["broken-dist", "misspelt"] == "failed"
    assert status["good-dist", "good.v1"] == "ok"
    assert error in shown


@pytest.mark.parametrize("kind", ["cell", "head", "embedding", "encoder", "parser"])
def test_a_file_in_the_folder_of_a_kind_is_a_plugin_named_after_it(kind):
    plugins = PluginManager(entry_points=(), blocked=())
    folder = Path(manager_module.__file__).parent / f"{kind}s"
    files = sorted(path.stem for path in folder.glob("[!_]*"))
    assert builtin_modules(kind) == [f"{KINDS[kind].builtins}.{file}" for file in files]
    assert [spec.name.partition(".v")[0] for spec in plugins.specs(kind)] == files
    assert all(spec.summary for spec in plugins.specs(kind))


def test_all_builtins_work():
    records = PluginManager(entry_points=(), blocked=()).records()
    origin = {(each.distribution, each.version, each.status) for each in records}
    assert origin == {("thinstack", __version__, "ok")}
    assert {"cell", "head", "embedding", "parser", "reader", "bundle"} <= {r.kind for r in records}


def test_looking_a_plugin_up_imports_what_may_provide_it(site):
    site.install("light", "m_light", hook("return {}", "thinstack_bundles"))
    site.install("heavy", "m_heavy", CLASS.format(name="heavy.v1"), names="Mine")
    builtins = ("thinstack.plugins.cells.rntn", "thinstack.plugins.readers")
    plugins = PluginManager(builtins=builtins, entry_points=site.entry_points(), blocked=())
    assert plugins.specs("bundle") == []
    assert ("m_light" in sys.modules, "m_heavy" in sys.modules) == (True, False)
    assert len(plugins.specs("reader")) == 4
    assert [spec.name for spec in plugins.specs("cell")] == ["rntn.v1", "heavy.v1"]


def test_the_page_of_the_api_lists_the_hooks():
    page = (Path(__file__).parents[2] / "docs" / "api" / "plugins.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (?:`(.+)` )?\|$", page, re.MULTILINE)
    assert rows == [(hook, kind.contract) for hook, kind in HOOKS.items()]
