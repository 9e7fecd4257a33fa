"""A hub on this machine: repositories behind what `huggingface_hub` asks of its HTTP interface."""

import base64
import hashlib
import json
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from command_line import python

TESTS = Path(__file__).parents[1]
TOKEN = "hf_stub"


@dataclass
class Repository:
    """Branches with their commit, and the files of each commit."""

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: bool = False
    gated: bool = False

    def commit(self, files, branch="main"):
        """Put files on top of a branch; returns the commit."""
        known = self.commits.get(self.branches.get(branch, ""), {})
        whole = known | files
        digest = hashlib.sha1(repr((branch, sorted(whole.items()))).encode()).hexdigest()
        self.commits[digest], self.branches[branch] = whole, digest
        return digest


class Hub:
    """Repositories by name, and the requests that came, as "METHOD path"."""

    def __init__(self):
        self.repositories = {}
        self.requests = []
        self.url = ""
        self.silent = False
        """Whether it accepts connections and never answers."""
        self.ended = threading.Event()

    def downloaded(self):
        """The files that were asked for."""
        paths = [
            line.split("/resolve/")[1]
            for line in self.requests
            if "GET /" in line and "/resolve/" in line
        ]
        return sorted(path.split("/", 1)[1] for path in paths)


@contextmanager
def running_hub():
    hub = Hub()

    class Handler(_Handler):
        state = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *given):
        """Nothing."""

    def parse_request(self):
        if self.state.silent:
            self.state.requests.append("SILENCE")
            self.state.ended.wait()
            self.close_connection = True
            return False
        return super().parse_request()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.state.requests.append(f"{self.command} {path}")
        if "/resolve/" not in path and not path.startswith("/api/models/"):
            self._error(404, "", f"There is no {path} here")
            return
        if "/resolve/" in path:
            repository, rest = path.lstrip("/").split("/resolve/")
            revision, file = rest.split("/", 1)
        else:
            parts = [*path.removeprefix("/api/models/").split("/", 3), "revision", "main"]
            repository, (kind, revision), file = "/".join(parts[:2]), parts[2:4], None
        found = self._revision(repository, revision)
        if found is None:
            return
        commit, files = found
        if file is not None:
            self._file(commit, files.get(file))
        elif kind == "revision":
            names = [{"rfilename": name} for name in files]
            self._json({"id": repository, "sha": commit, "siblings": names})
        else:
            self._json([self._entry(name, content) for name, content in files.items()])

    def do_POST(self):
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.state.requests.append(f"POST {path}")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._error(401, "", "Invalid username or password.")
        elif path == "/api/repos/create":
            asked = json.loads(body)
            name = "/".join(filter(None, (asked.get("organization"), asked["name"])))
            taken = name in self.state.repositories
            repository = self.state.repositories.setdefault(name, Repository())
            if not taken:
                repository.private = asked.get("visibility") == "private" or bool(
                    asked.get("private")
                )
                repository.commit({".gitattributes": b""})
            self._json({"url": f"{self.state.url}/{name}", "id": name}, 409 if taken else 200)
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        else:
            user, name, kind, branch = path.removeprefix("/api/models/").split("/", 3)
            repository = self.state.repositories[f"{user}/{name}"]
            getattr(self, f"_{kind}")(repository, branch, body)

    def _branch(self, repository, branch, body):
        taken = branch in repository.branches
        repository.branches.setdefault(branch, repository.branches["main"])
        self._json({}, 409 if taken else 200)

    def _preupload(self, repository, branch, body):
        names = [one["path"] for one in json.loads(body)["files"]]
        modes = [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]
        self._json({"files": modes})

    def _commit(self, repository, branch, body):
        lines = [json.loads(line) for line in body.splitlines() if line]
        files = [line["value"] for line in lines if line["key"] == "file"]
        contents = {one["path"]: base64.b64decode(one["content"]) for one in files}
        commit = repository.commit(contents, branch)
        url = f"{self.state.url}/user/films/commit/{commit}"
        self._json({"commitOid": commit, "commitUrl": url, "success": True})

    def _revision(self, name, revision):
        repository = self.state.repositories.get(name)
        if repository is None:
            return self._error(401, "RepoNotFound", "Repository not found")
        if repository.gated:
            return self._error(403, "GatedRepo", "Access to model is restricted")
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return commit, repository.commits[commit]

    def _entry(self, name, content):
        oid = hashlib.sha1(content).hexdigest()
        return {"type": "file", "path": name, "size": len(content), "oid": oid}

    def _file(self, commit, content):
        if content is None:
            return self._error(404, "EntryNotFound", "Entry not found")
        etag = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit}
        return self._answer(200, content, etag)

    def _error(self, status, code, message):
        self._answer(status, b"{}", {"X-Error-Code": code, "X-Error-Message": message})

    def _json(self, data, status=200):
        self._answer(status, json.dumps(data).encode(), {"Content-Type": "application/json"})

    def _answer(self, status, content, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


PROGRAM = """
import contextlib, io, json, os, sys
from thinstack.cli import main
from thinstack.bundle import open_bundle
answers = []
for name, *given in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code = 0
    sys.argv = ["thinstack", name, *given]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if name == "open": out.write(str(open_bundle(*given).path))
            else: main()
        except SystemExit as end: code = end.code or 0
        except Exception as error: code = f"{type(error).__name__}: {error}"
    answers.append([code, *(each.buffer.getvalue().decode() for each in (out, err))])
print(json.dumps(answers))
"""


def run(hub, home, *commands, **more):
    """Exit code or error, output and errors of commands in a process with this hub and the cache
    of `home`; ["open", ADDRESS] prints the folder of a bundle."""
    settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
    settings |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    settings |= {"NO_PROXY": "127.0.0.1", "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    done = python(PROGRAM, json.dumps(commands), env={**os.environ, **settings, **more})
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]
