"""Random workflow files over the whole language, with the files of the workflows that they call."""

from random import Random
from typing import Any

from tests.walks.schemas import list_of_items, typed_input, variants
from tests.walks.templates import Context, template

Mapping = dict[str, Any]
Outputs = dict[str, Mapping]
"""By status, the fields of an output: name -> schema."""

STATUSES = ("ok", "bad", "late")


class RandomFile:
    """A workflow file: `text` as a mapping, and `ends`, the results of a call of it."""

    def __init__(self, rng: Random, name: str, files: "dict[str, RandomFile]", below: int) -> None:
        self.rng = rng
        self.name = name
        self.files = files
        self.below = below
        self.input = typed_input(rng) if rng.random() < 0.3 else None
        self.worktree = rng.random() < 0.1
        self.names_steps = rng.random() < 0.4
        self.played: list[str] = []
        self.roles: dict[str, Mapping] = {}
        self.outputs: dict[str, Outputs] = {}
        self.graph: dict[str, Mapping] = {}
        self.ends: Outputs = {}
        files[name] = self
        for number in range(rng.randint(1, 4)):
            self._add_role(f"r{number}")
        self._add_edges()
        self._add_calls_of_itself()

    @property
    def document(self) -> Mapping:
        """The file as it is written."""
        found: Mapping = {"version": 1, "name": self.name, "roles": self.roles}
        found |= {} if self.input is None else {"input": self.input}
        found |= {"workspace": "worktree"} if self.worktree else {}
        return {**found, "graph": self.graph}

    # -- roles

    def _add_role(self, name: str) -> None:
        kind = self.rng.choice(["agent", "agent", "agent", "human", "program", "call"])
        if kind == "call" and self.below:
            self._add_call(name)
            return
        statuses = self.rng.sample(STATUSES, self.rng.randint(1, 3))
        schema = variants(self.rng, statuses)
        if self.rng.random() < 0.5:
            _add_list(self.rng, schema)
        self.roles[name] = {"goal": "Work.", "frontmatter": schema}
        if kind == "human":
            self.roles[name]["human"] = True
        elif kind == "program":
            codes = {str(code): status for code, status in enumerate(statuses)}
            self.roles[name] = {
                "program": {"argv": ["make"], "statuses": codes},
                "frontmatter": schema,
            }
        self.outputs[name] = {status: _fields(schema, status) for status in statuses}

    def _add_call(self, name: str) -> None:
        called = f"{self.name}-{name}"
        found = RandomFile(self.rng, called, self.files, self.below - 1)
        if found.ends:
            self.roles[name] = {"workflow": f"./{called}.yaml"}
            self.outputs[name] = found.ends
        else:
            del self.files[called]
            self._add_role(name)

    # -- edges

    def _add_edges(self) -> None:
        rng, names = self.rng, [*self.roles]
        start = {word: {"role": names[0], **self._texts({}, "new")} for word in ("new", "resume")}
        self.graph["$START"] = start
        for number, name in enumerate(names):
            edges: Mapping = {}
            self.played = names[: number + 1] if rng.random() < 0.9 else names
            for place, (status, fields) in enumerate(self.outputs[name].items()):
                on = names[number + 1] if number + 1 < len(names) else "$END"
                target = on if not place else rng.choice([*names, "$END", "$END", "$SUSPEND"])
                edges[status] = self._edge(name, status, fields, target)
            self.graph[name] = edges
        for name in names:
            argv = self.roles[name].get("program", {}).get("argv")
            if argv:
                argv += [self._argument(name) for _ in range(rng.randrange(2))]

    def _argument(self, name: str) -> str:
        """A template over an output that leads to the program."""
        leading = [
            self.outputs[source].get(status, {})
            for source, edges in self.graph.items()
            for status, edge in edges.items()
            if edge.get("role") == name and source in self.outputs and "then" not in edge
        ]
        fields = self.rng.choice(leading) if leading else {}
        return "x" + template(self.rng, [Context(self._known(fields))])

    def _edge(self, source: str, status: str, fields: Mapping, target: str) -> Mapping:
        lists = [name for name, each in fields.items() if _is_list(each)]
        if "tasks" in lists and self.rng.random() < 0.9:
            lists = ["tasks"]
        elif self.rng.random() < 0.9:
            lists = []
        if self.rng.random() < 0.35:
            return self._parallel(fields, target)
        if lists and self.rng.random() < 0.7:
            return self._for_each(fields, self.rng.choice(lists), target)
        if target == "$END":
            self.ends.setdefault(status, {}).update(fields)
        return {"role": target, **self._texts(fields, source)}

    def _texts(self, fields: Mapping, source: str) -> Mapping:
        contexts = [Context(self._known(fields))]
        has_body = source not in ("new", "resume")
        found = {"prompt": template(self.rng, contexts, has_body=has_body)}
        if self.rng.random() < 0.1:
            found["location"] = template(self.rng, contexts)
        return found

    def _known(self, fields: Mapping) -> Mapping:
        if self.names_steps:
            fields = {**fields, **{f"steps.{name}": self._step(name) for name in self.played}}
        return fields if self.input is None else {**fields, "input": self.input}

    def _step(self, role: str) -> Mapping:
        """The type of the newest step of a role: perhaps with fields that not all of them have."""
        outputs = [*self.outputs[role].values()]
        some = outputs if self.rng.random() < 0.3 else [self.rng.choice(outputs)]
        fields = {name: each for output in some for name, each in output.items()}
        return {"type": "object", "properties": {**fields, "$status": {}, "_body": {}}}

    def _parallel(self, fields: Mapping, target: str) -> Mapping:
        rng, known = self.rng, {**self._known(fields), "$index": {"type": "integer"}}
        chosen = {name: rng.choice([*self.roles]) for name in ("p", "q")[: rng.randint(1, 2)]}
        branches = {
            name: {"role": role, "prompt": template(rng, [Context(known)], has_body=True)}
            for name, role in chosen.items()
        }
        joint = {name: _result(self.outputs[role]) for name, role in chosen.items()}
        return {"parallel": branches, **self._joined(joint, [*chosen.values()], target)}

    def _for_each(self, fields: Mapping, path: str, target: str) -> Mapping:
        rng, role = self.rng, self.rng.choice([*self.roles])
        known = {**self._known(fields), "$index": {"type": "integer"}}
        contexts = [Context(known), Context(_properties(fields[path]["items"]))]
        edge = {"forEach": path, "role": role, "prompt": template(rng, contexts, has_body=True)}
        joined = self._joined({}, [role], target)
        if not fields[path].get("minItems"):
            joined["then"]["$empty"] = self._joint_edge({}, target)
        return {**edge, **joined}

    def _joined(self, joint: Mapping, roles: list[str], target: str) -> Mapping:
        rng = self.rng
        items: Mapping = {}
        for role in roles:
            items |= _result(self.outputs[role])["properties"]
        known = {**joint, "results": {"type": "array", "items": {"properties": items}}}
        then = {"$mixed": self._joint_edge(known, target)}
        common = set.intersection(*(set(self.outputs[role]) for role in roles))
        for status in sorted(common)[: rng.randrange(3)]:
            then[status] = self._joint_edge(known, target, status)
        return {"then": then, "shared": True}

    def _joint_edge(self, fields: Mapping, target: str, status: str = "$mixed") -> Mapping:
        if target == "$END" and status == "$mixed":
            target = self.rng.choice([*self.roles])
        if target == "$END":
            self.ends.setdefault(status, {}).update(fields)
        return {"role": target, "prompt": template(self.rng, [Context(self._known(fields))])}

    def _add_calls_of_itself(self) -> None:
        """A role that calls this workflow: it has the results of the other roles."""
        rng = self.rng
        if not self.ends or rng.random() > 0.2:
            return
        before = rng.choice([*self.roles])
        plain = [each for each in self.graph[before].values() if "then" not in each]
        if not plain:
            return
        rng.choice(plain)["role"] = "again"
        self.roles["again"] = {"workflow": "$SELF"}
        names = [*self.roles, "$END", "$SUSPEND"]
        self.graph["again"] = {
            status: {"role": rng.choice(names), **self._texts(fields, "again")}
            for status, fields in self.ends.items()
        }


def _fields(schema: Any, status: str) -> Mapping:
    """The fields of an output with a status, as far as templates need to know them."""
    found: Mapping = dict(schema.get("properties", {}))
    for word in ("allOf", "oneOf", "anyOf"):
        for each in schema.get(word, ()):
            own = each.get("properties", {}).get("$status", {}).get("const", status)
            found |= _fields(each, status) if own == status else {}
    shared = schema.get("$defs", {}).get("shared")
    return {name: shared if shared and "$ref" in each else each for name, each in found.items()}


def _properties(schema: Any) -> Mapping:
    return dict(schema.get("properties", {})) if isinstance(schema, dict) else {}


def _result(outputs: Outputs) -> Mapping:
    """The type of the result of a branch, roughly."""
    fields = {name: each for variant in outputs.values() for name, each in variant.items()}
    return {"type": "object", "properties": {**fields, "$index": {}, "_body": {}}}


def _is_list(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "array" and "items" in schema


def _add_list(rng: Random, schema: Mapping) -> None:
    """Add a list that a `forEach` can use to one variant."""
    for word in ("oneOf", "anyOf"):
        for each in schema.get(word, ()):
            if "$status" in each.get("properties", {}):
                _add_list(rng, each)
                return
    if "properties" in schema and "$status" in schema["properties"]:
        schema["properties"]["tasks"] = list_of_items(rng)
        schema.setdefault("required", []).append("tasks")


def random_files(rng: Random) -> dict[str, Mapping]:
    """The files of one workflow and of all that it calls, by name; the first is it."""
    files: dict[str, RandomFile] = {}
    RandomFile(rng, "w", files, 2)
    return {name: each.document for name, each in files.items()}
