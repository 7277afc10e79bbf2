"""Verify a bundle of uwf without uwf: derive every route and every prompt from what it holds.

    python verify_bundle.py thread.tar

Needs cbor2, pystache, PyYAML and xxhash. README.md lists what is derived, and what a bundle cannot show.
"""

import hashlib
import json
import re
import resource
import shlex
import sys
import tarfile
from functools import partial

import cbor2
import pystache
import xxhash
import yaml

NODES, SHOWN, MOST = {}, {}, ((resource.RLIMIT_CPU, 600), (resource.RLIMIT_AS, 4 << 30))  # seconds, bytes
FRONT = re.compile(r"(?:\ufeff?(?:[ \t]*\r?\n)*)---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)(.*)", re.S | re.M)
OWN_SESSION = "You continue this session as the %s: your role, the form of your reply and the task are those of its \
beginning."
SCOPE = """Deliver only the output of this role; other roles do the rest. They see your reply and the \
files in the working folder, and nothing else that you write, think or do."""
CHANGED = "These have changed since your last reply, and replace what you had."
GUIDANCE = {"skill": ("Skill", "A skill describes how to do a kind of work. Follow it where its description applies; "
                      "the files that it names are in its folder."),
            "memory": ("Memory", "Memory is what was noted for this work before. It is material, and may be outdated."),
            "rules": ("Rules", """These are the rules of the project (AGENTS.md). Your role and your instruction take \
precedence. A folder below may have its own AGENTS.md: read it before you change files there.""")}  # fmt: skip
CALLED = re.compile(r"Thread (\w+) called this thread as a part of a larger run \(`uwf thread read \1` prints it\)\. "
                    r"The task of the whole run:\n\n")  # fmt: skip
ASKED = ("You asked:", "A person answered:", "A person let you continue without an answer.",
         "A person asks you to redo your last reply:")  # fmt: skip


def need(holds, *words):
    if not holds:
        raise SystemExit("NOT VERIFIED: " + " ".join(map(str, words)))


def flat(node):
    """A step or an attempt with the fields of its sub-records beside its own."""
    if not isinstance(node, dict) or not isinstance(node.get("attempt"), dict):
        return node
    call, session, failure = (node.get(name) or {} for name in ("call", "session", "failure"))
    own = {"session": session.get("id"), "failure": failure.get("kind")}
    return {**dict.fromkeys(("child", "children", "branches")), **node["attempt"], **call, **node, **own}


def read_bundle(path):
    """Every node has the content that its reference and digest name; the root is over all."""
    tar = tarfile.open(path)
    manifest = json.load(tar.extractfile("manifest.json"))
    for ref, digest in manifest["nodes"]:
        node = cbor2.load(tar.extractfile(f"cas/{ref}.bin"))
        hashed = (b"" if ref == node["type"] else node["type"].encode()) + cbor2.dumps(node["payload"])
        number, digits = xxhash.xxh64_intdigest(hashed), "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        name = "".join(digits[number >> 5 * place & 31] for place in range(12, -1, -1))
        need(name == ref and hashlib.sha256(hashed).hexdigest() == digest, ref, "is changed")
        NODES[ref] = flat(node["payload"])
    lines = "".join(" ".join(each) + "\n" for each in ([manifest["head"]], *manifest["nodes"]))
    need((root := hashlib.sha256(lines.encode()).hexdigest()) == manifest["root"], "the root over all nodes is", root)
    return manifest, {v["name"]: v["value"] for v in map(json.loads, tar.extractfile("vars.jsonl"))}


dumped = partial(json.dumps, ensure_ascii=False)
MUSTACHE = pystache.Renderer(escape=lambda text: text, partials={})  # reads no file
MUSTACHE.str_coerce = lambda value: "" if value is None else dumped(value, separators=(",", ":"))


def fenced(text):
    fence = "`" * (1 + max(3, *map(len, re.findall("`+", text)), 0)) if "````" in text else "````"
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}"


def same(read, value):
    """Whether YAML without types (`read`) can be this value."""
    if isinstance(value, dict) and isinstance(read, dict):
        return all(same(read.get(key), each) for key, each in value.items())
    if isinstance(value, list) and isinstance(read, list):
        return len(read) == len(value) and all(map(same, read, value))
    is_text = isinstance(read, str) and not isinstance(value, str)
    return read == value or (is_text and (yaml.safe_load(read) == value or read == dumped(value)))


def read_reply(text, output, body, *what):
    """The frontmatter of a reply has each field of the output, and its text follows."""
    need(parts := FRONT.fullmatch(text), "no frontmatter in", *what)
    read = yaml.load(parts[1], yaml.BaseLoader) or {}
    need(all(same(read.get(key), each) for key, each in output.items()), "another output in", *what)
    need(re.sub(r"\A(?:[ \t]*\r?\n)+", "", parts[2]).rstrip() == body.strip("\n").rstrip(), "another text in", *what)
    return read


def made_of(text, parts):
    """Whether a text is some of the parts, with blank lines between them."""
    known = "|".join(map(re.escape, sorted(filter(None, parts), key=len, reverse=True)))
    return re.fullmatch(rf"(?:(?:{known})(?:\n\n|\Z))*", text) is not None


def own_sayings(step):
    """What a person said for an attempt: the text, and how a prompt shows it."""
    if step["answer"] and step.get("usage", {}).get("turns") != 0:
        yield (text := NODES.get(step["answer"])), f"A person answered:\n\n{fenced(text)}"
    if step["said"]:
        lead = "A person asked to redo the reply:" if step["purpose"] == "poke" else "A person said:"
        yield (text := NODES.get(step["said"])), f"{lead}\n\n{fenced(text)}"


def replaced_by(ref):
    return [*replaced_by(NODES[ref]["replaces"]), ref] if ref else []


def step_text(ref, prompt):
    """A step in the history of a prompt: its output is in it, and the same in each prompt."""
    step = NODES[ref]
    tries = (each for r in replaced_by(ref) for each in (*NODES[r]["previousAttempts"], r))
    heard = dict.fromkeys(shown for each in tries for _, shown in own_sayings(NODES[each]))
    output = NODES[step["output"]]
    heading = f"## Step {step['number']}: {step['role']}, {output['$status']}"
    head = "\n\n".join((heading, *heard, *(["The reply:"] if heard else []))) + "\n\n"
    form = re.compile(re.escape(head) + r"(`{4,})\n(.*?)\n?\1(?=\n\n|\n\Z)", re.S)
    need(found := form.search(prompt), f"step {step['number']} is not in a prompt that had to have it")
    read = read_reply(found[2] + "\n", output, NODES.get(step["body"]) or "", "the history of a prompt:", heading)
    need(read.keys() == output.keys(), "further fields in the history of a prompt:", heading)
    return SHOWN.setdefault(ref, found[0])  # the same in each prompt


def events(key, own=None):
    """The events of the kind that has this key; those before a step in its thread, newest first."""
    found = [n for n in NODES.values() if isinstance(n, dict) and {key, "atMs", "thread"} <= n.keys()]
    found = [n for n in found if not own or (n["thread"] == own["thread"] and n["seq"] < own["seq"])]
    return sorted(found, key=lambda n: -n["seq"])


def chain_of(ref):
    """The steps up to this one, oldest first, and the start."""
    found = []
    while "edgePrompt" in NODES[ref]:
        found.insert(0, ref)
        ref = NODES[ref]["prev"] or NODES[ref]["start"]
    return found, NODES[ref]


def verify_thread(name, chain, start):
    for place, ref in enumerate(chain):
        tries, prev, what = [], chain[place - 1] if place else None, f"step {place + 1} of thread {name}:"
        every = [NODES[n] for r in replaced_by(ref) for n in (*NODES[r]["previousAttempts"], r)]
        every += [a for e in events("attempt", NODES[ref]) if (a := NODES[e["attempt"]])["prev"] == prev]
        for step in sorted(every, key=lambda each: (each["thread"] == name, each["seq"])):
            need((step["prev"], step["number"]) == (prev, place + 1), what, "it is out of place")
            Attempt(step, chain[:place], start, NODES[NODES[ref]["workflow"]], tries).verify(what)
            tries.append(step)


class Parts:
    """A prompt, whose parts are taken from its beginning."""

    def __init__(self, text, what):
        self.rest, self.what, self.own = text, what, False

    def may(self, part):
        found = part.match(self.rest) if isinstance(part, re.Pattern) else self.rest.startswith(f"{part}\n\n")
        self.rest = self.rest[(len(part) + 2 if found is True else found.end()) if found else 0 :]
        return found

    def take(self, *parts):
        for part in parts:
            need(self.may(part), self.what, "the prompt lacks", repr(getattr(part, "pattern", part))[:200])

    def summary(self, chain):
        """The number of the last step that a summary replaces, 0 without one."""
        found = self.may(re.compile(r"## Summary of steps? 1(?: to (\d+))?\n\nThis text replaces .* in full\.\n\n"))
        number = int(found[1] or 1) if found else 0
        known = [n for n in events("summary") if number and n["step"] == chain[number - 1]]
        need(not number or any(self.may(fenced(NODES.get(n["summary"]))) for n in known), self.what, "another summary")
        return number


def output_of(step):
    found = {**NODES[step["output"]], "_body": NODES.get(step["body"]) or ""}
    if step["child"] and NODES[NODES[step["child"]]["workflow"]]["workspace"]:
        found |= {"$folder": step["cwd"], "$gitBranch": f"uwf/{step['session']}"}
    return found


class Attempt:
    """A step, a failed attempt or a question, after the steps of `chain` and the attempts `tries`."""

    def __init__(self, step, chain, start, workflow, tries):
        self.step, self.chain, self.start, self.workflow, self.tries = step, chain, start, workflow, tries
        self.last, self.call = NODES[chain[-1]] if chain else None, next(iter(events("parentHead", step)), None)
        self.input = NODES.get((self.call or start)["input"]) if workflow["input"] else None
        since = self.last["seq"] if chain and self.last["thread"] == step["thread"] else 0
        self.is_own = any(n["thread"] == step["thread"] for n in events("workflowName"))  # else a fork inherited it
        self.entered = self.call and since < self.call["seq"]
        self.replaces = step["replaces"] and NODES[step["replaces"]]

    def data(self, step=None):
        found = output_of(step) if step else {}
        if re.search(r"\{\{[{&#^]?\s*steps\.", dumped(self.workflow)):  # the newest output of each role
            chain = *map(NODES.get, self.chain), *[step] * (step is self.step)
            found["steps"] = {n["role"]: output_of(n) for n in chain if n["agent"] and n["status"][0] != "$"}
        return {**found, "input": self.input} if self.workflow["input"] is not None else found

    def follow(self, edge, step=None):
        """(status, role, text) of an edge."""
        if edge.get("then"):
            return "idle", f"{step['role']}/{NODES[step['output']]['$status']}", ""
        text = MUSTACHE.render(edge["prompt"], self.data(step))
        ends = {"$SUSPEND": ("suspended", step and step["role"], text.strip()), "$END": ("completed", None, text)}
        return ends.get(edge["role"], ("idle", edge["role"], text))

    def route(self, step):
        status, (source, _, taken) = NODES[step["output"]]["$status"], step["role"].rpartition("/")
        if status == "$SUSPEND":
            return "suspended", step["role"], str(NODES[step["output"]].get("reason")).strip()
        graph = self.workflow["graph"]
        if step["agent"] is None and status != "$failed":  # a failure that ends the workflow
            return self.follow({"role": "$END", "prompt": ""})
        edges = graph[source][taken]["then"] if source else {**graph.get("$any", {}), **graph[step["role"]]}
        return self.follow(edges[status], step)

    def derived(self):
        """The role that had to run, and the moderator's instruction."""
        if self.replaces:
            return self.replaces["role"], NODES.get(self.replaces["edgePrompt"])
        if self.last is None:
            return self.follow(self.workflow["graph"]["$START"]["new"])[1:]
        if self.entered or self.last["next"]["status"] == "completed":
            _, role, text = self.follow(self.workflow["graph"]["$START"]["resume"])
            recorded = NODES[self.step["edgePrompt"]]
            whole = "\n\n".join(filter(None, (text, self.entered and NODES[self.call["prompt"]])))
            return role, recorded if not self.is_own and recorded.startswith(f"{text}\n\n") else whole
        return self.route(self.last)[1:]

    def instruction(self, text, base):
        """The instruction is the derived one, with words of people and questions of the role."""
        known = [base, *ASKED, *(t for each in (*self.tries, self.step) for t, _ in own_sayings(each))]
        known += [NODES.get(NODES[t["question"]]["message"]) for t in self.tries if t.get("question")]
        known += [dumped(json.loads(NODES[t["answer"]])) for t in (*self.tries, self.step) if t["answer"]]
        waited = self.last and not self.entered and self.last["next"]["reason"] == "role"
        return (text.startswith(base) or waited) and base in text and made_of(text, known)

    def prompt(self, base, what):
        """Each part of the prompt, in its order, is derived or copied from a node."""
        role, step, text = self.workflow["roles"].get(self.step["role"]), self.step, NODES.get(self.step["prompt"])
        if role is None or role["workflow"] or (step.get("failure") and text == base):  # branches, a call, or no agent
            need(self.instruction(text, base) if role else text == (NODES.get(step["said"]) or ""), what, "its prompt")
        elif role["program"]:
            need(text == self.command(role["program"]), what, "another command")
        else:
            own, kinds = role["deliverable"], (("form", "lastLine"), ("objectForm", "objectLastLine"))
            known = [(NODES[own[a]], own[b]) for a, b in kinds if text.endswith(f"\n\n{own[b]}\n")]
            need(known, what, "another last line")
            parts = Parts(text[: -len(known[0][1]) - 3], what)
            self.deliverable(role, parts, known[0][0])
            self.history(parts)
            parts.take("# Your instruction")
            need(self.instruction(parts.rest, base.strip()), what, "another instruction:", repr(parts.rest[:90]))

    def command(self, program):
        step, first = self.last, program["argv"][0]
        while step and step["next"]["reason"] == "role":  # it asked; what led to it came before
            step = step["prev"] and NODES[step["prev"]]
        contexts = [self.data(step if step and step["next"]["status"] == "idle" else None)]
        if contexts == [self.data()] and self.workflow["branch"]:
            contexts = [self.input[key] for key in ("output", "item") if key in self.input]
        return shlex.join([first, *(MUSTACHE.render(each, *contexts) for each in program["argv"][1:])])

    def guidance(self, role, is_own):
        """The skills, memory and rules of the role; in its session what has changed."""
        last = self.replaces or next((n for r in self.chain[::-1] if (n := NODES[r])["role"] == self.step["role"]), {})
        now, before = ([(g["kind"], g["name"], g["path"], g["given"], NODES.get(g["text"])) for g in found or ()]
                       for found in (self.step["skills"], is_own and last.get("skills")))  # fmt: skip
        gone = [g for g in before if g[:2] not in {each[:2] for each in now} and (now or role["memory"])]
        new = [g for g in now if g not in before]
        yield from ["# Skills, memory and rules", *[CHANGED] * is_own] * bool(new or gone)
        for kind, (title, lead) in GUIDANCE.items():
            yield from [lead] * any(g[0] == kind for g in new)
            for _, name, path, given, text in (g for g in new if g[0] == kind):
                where = "" if given == "name" or path == name else f" ({path})"
                how = f"Load it by its name; it is in {path}." if given == "name" else fenced(text)
                yield f"## {title} {name}{where}\n\n{how}"
        yield from (f"{GUIDANCE[g[0]][0]} {g[1]} no longer exists." for g in gone)

    def deliverable(self, role, parts, form):
        """The form of the reply, which the workflow holds; the role, the task, the input."""
        name, given = self.step["role"], self.input and fenced(dumped(self.input, indent=2))
        own = {*self.workflow["graph"].get(name, ())} - {"$failed"}
        need(all(f"`$status: {s}`" in form for s in own), parts.what, "a status lacks")
        parts.own = bool(parts.may(OWN_SESSION % name))
        need(self.step["ownSession"] or not parts.own, parts.what, "it has no session")
        texts = {"Goal": role["goal"], "Capabilities": "\n".join(f"- {each}" for each in role["capabilities"]),
                 "Procedure": role["procedure"], "Output": role["output"]}  # fmt: skip
        known = [f"## {title}\n\n{text.strip()}" for title, text in texts.items() if text.strip()]
        parts.take(*[form, f"# Your role: {name}", SCOPE, *known] * (not parts.own), *self.guidance(role, parts.own))
        if parts.own:
            parts.may(f"# Input\n\nThe thread was called again, with this input:\n\n{given}")
            return
        text, root, caller = NODES.get(self.start["prompt"]), self.start, self.call and self.call["parent"]
        parts.take("# Task", *(["The task of the whole thread:", fenced(text)] if text.strip() else [
            "The thread was started without a task text."]))  # fmt: skip
        while root["parent"]:
            root = NODES.get((above := NODES[root["parent"]]).get("start"), above)
        found = parts.may(CALLED)
        need(not self.is_own or (found and found[1]) == caller, parts.what, "another caller")
        typed = ["# Input", "The typed input of the thread:", given] * bool(given)
        parts.take(*[fenced(NODES[root["prompt"]])] * bool(found), *typed)

    def history(self, parts):
        """How far the thread is, and the steps before, all but those that the session knows."""
        step, chain, kind = self.step, self.chain, self.tries[-1].get("failure") if self.tries else None
        parts.take(re.compile(
            rf"# Progress\n\nThis is step {step['number']} of the thread\. You, the {step['role']}, have "
            r"(not replied yet|replied (once|\d+ times) before(, in this session|\. This is a new session: your "
            r"earlier replies(, or a summary of them,)? are below))\. "
            rf"Your working folder is {re.escape(dumped(step['cwd']))}\.( Your last attempt at this step ended before "
            rf"you delivered \({kind}: [a-zA-Z' ]+\)\. Its changes may be half done, so check the current state before "
            r"you continue\.)?(\n\n)"))  # fmt: skip
        parts.may("# What happened " + ("since your last reply" if parts.own else "before"))
        begin = parts.summary(chain)
        if left := parts.may(re.compile(r"\((\d+) earlier steps? (is|are) left out for length: `uwf .*`\)\n\n")):
            begin += int(left[1])
        own = [n for n, ref in enumerate(chain, 1) if NODES[ref]["role"] == step["role"]]
        own += [len(chain)] * bool(self.tries or self.replaces)
        first = int(found[1]) - 1 if (found := re.match(r"## Step (\d+): ", parts.rest)) else len(chain)
        need(first in (begin, 0, *own * parts.own), parts.what, "the history begins at step", first + 1)
        for ref in chain[first:]:
            parts.take(step_text(ref, parts.rest))
        if parts.may("# What you said last\n\nYour next reply replaces this one:"):
            parts.take(step_text(step["replaces"], parts.rest))
        if parts.may("# What a person said at an earlier attempt"):
            [parts.may(shown) for t in self.tries for _, shown in own_sayings(t)]

    def verify(self, what):
        recorded = self.step["role"], NODES[self.step["edgePrompt"]]
        if self.step["agent"] is not None:  # else uwf made it after the attempts that failed
            need(recorded == self.derived(), what, "the role and instruction had to be", *self.derived())
            self.prompt(recorded[1], what)
        if "next" in self.step and not self.step["failure"]:
            decided, (status, role, text) = self.step["next"], self.route(self.step)
            found = decided["status"], decided["role"], decided["message"] if status == "suspended" and text else text
            need((status, role, text) == found, what, "leads to", status, role, text)
            self.reply(what)

    def reply(self, what):
        """The output is in the reply, or that of the called threads."""
        step, output, body = self.step, NODES[self.step["output"]], NODES.get(self.step["body"]) or ""
        if step["branches"] is not None:
            need(output == self.joint(), what, "another joint result")
        elif step["child"]:
            last, same_as = NODES[step["child"]], {**step, "thread": step["session"]}
            need(all(last[k] == same_as[k] for k in ("thread", "output", "body")), what, "another result")
        elif step["extractor"] == "frontmatter":
            read_reply(NODES.get(step["raw"]), output, body, what)
        elif step["raw"] and step["agent"] != "program" and step["extractor"] is None:
            need(all(json.loads(NODES.get(step["raw"])).get(k) == v for k, v in output.items()), what, "another output")

    def joint(self):
        """The output of a fan-out: what its branches delivered, in their order."""
        branches, found, (source, _, taken) = self.step["branches"], [], self.step["role"].rpartition("/")
        for place, (branch, end) in enumerate(zip(branches, self.step["children"], strict=True)):
            old, own = NODES[self.step["output"]]["results"][place], {"$status": branch["status"], "_body": ""}
            if branch["status"] != "$cancelled":
                own = {**NODES[NODES[end]["output"]], "_body": NODES.get(NODES[end]["body"]) or ""}
            found.append({**own, **{k: old[k] for k in ("$folder", "$gitBranch") if k in old}, "$index": place})
        one = {each["$status"] for each in found}
        then = {*self.workflow["graph"][source][taken]["then"]} - {"$mixed", "$empty"}
        status = one.pop() if len(one) == 1 and one <= then else "$mixed" if found else "$empty"
        return {"$status": status, "results": found, **{b["name"]: r for b, r in zip(branches, found) if b["name"]}}


def verify_call(event, step, chain, start):
    """A called thread got the prompt of its caller's step, or of its branch."""
    attempt = Attempt(step, chain[: step["number"] - 1], start, NODES[step["workflow"]], [])
    expected, (source, _, taken) = NODES.get(step["prompt"]), step["role"].rpartition("/")
    if event["index"] is not None:
        edge = attempt.workflow["graph"][source][taken]
        data = item = {**attempt.data(attempt.last), "$index": event["index"]}
        for key in (edge["forEach"] or "").split(".") if edge["forEach"] else ():
            item = item[key]
        branch = edge["parallel"][event["branch"]] if edge["parallel"] else edge
        text = MUSTACHE.render(branch["prompt"], *([data] if edge["parallel"] else [data, item[event["index"]]]))
        expected = "\n\n".join(filter(None, (text, NODES.get(step["said"]))))
    need(NODES.get(event["prompt"]) == expected, event["thread"], "had to be called with", repr(expected))


def main(bundle):
    [resource.setrlimit(what, (most, most)) for what, most in MOST]  # a hostile bundle ends there
    manifest, variables = read_bundle(bundle)
    need(variables[f"@uwf/thread/{manifest['thread']}"] == manifest["head"], "another head")
    threads = {name: chain_of(variables[f"@uwf/thread/{name}"]) for name in manifest["threads"]}
    [verify_thread(name, *thread) for name, thread in threads.items()]
    steps = {(n["thread"], n["number"]): (n, *t) for t in threads.values() for n in map(NODES.get, t[0])}
    for one in events("parentHead"):
        if (at := steps.get((one["parent"], one["number"]))) and (one["purpose"] == "poke") == bool(at[0]["replaces"]):
            verify_call(one, *at)  # a call that is open, or was replaced, has no step in the chain
    print(f"verified: {len(threads)} threads, {len(steps)} steps, root {manifest['root']}")


main(*sys.argv[1:])
