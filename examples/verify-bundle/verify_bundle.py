"""Verify a bundle of uwf without uwf: derive every route and every prompt from what it holds.

    python verify_bundle.py thread.tar

Needs cbor2, pystache, PyYAML and xxhash. README.md says what is derived, and what a bundle cannot show.
"""

import hashlib
import json
import re
import resource
import shlex
import sys
import tarfile

import cbor2
import pystache
import xxhash
import yaml

NODES, SHOWN, MOST = {}, {}, ((resource.RLIMIT_CPU, 600), (resource.RLIMIT_AS, 4 << 30))  # seconds, bytes
FRONT = re.compile(r"(?:\ufeff?(?:[ \t]*\r?\n)*)---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)(.*)", re.S | re.M)
SCOPE = """Deliver only the output of this role; other roles do the rest. They see your reply and the \
files in the working folder, and nothing else that you write, think or do."""
HALF_DONE = r" Your last attempt at this step ended before you delivered \(%s: [a-zA-Z' ]+\)\. Its " \
    r"changes may be half done, so check the current state before you continue\."  # fmt: skip
VARYING = r"(?ms)^(`{4,})\n.*?^\1$|^## `\$status: .*?`$|^Next: .*?$|^ *- `(?!\$status: \$SU).*?$|\s"
SENTENCES = "5a25ee6b cf4a5007 6fded545 418be25c".split()  # of the form of a deliverable: digests
CALLED = re.compile(r"Thread (\w+) called this thread as a part of a larger run \(`uwf thread read \1` prints it\)\. "
                    r"The task of the whole run:\n\n")  # fmt: skip
TITLES = "Goal", "Capabilities", "Procedure", "Output"
NO_TASK = "The thread was started without a task text."
ASKED = ("You asked:", "A person answered:", "A person let you continue without an answer.",
         "A person asks you to redo your last reply:")  # fmt: skip


def need(holds, *words):
    if not holds:
        raise SystemExit("NOT VERIFIED: " + " ".join(map(str, words)))


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
        NODES[ref] = node["payload"]
    lines = "".join(" ".join(each) + "\n" for each in ([manifest["head"]], *manifest["nodes"]))
    need((root := hashlib.sha256(lines.encode()).hexdigest()) == manifest["root"], "the root over all nodes is", root)
    return manifest, {v["name"]: v["value"] for v in map(json.loads, tar.extractfile("vars.jsonl"))}


def dumped(value, **how):
    return json.dumps(value, ensure_ascii=False, **how)


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
    if read == value or not isinstance(read, str) or isinstance(value, str):
        return read == value
    return yaml.safe_load(read) == value or read == dumped(value)


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
    return [ref] + (replaced_by(NODES[ref]["replaces"]) if NODES[ref]["replaces"] else [])


def step_text(ref, prompt):
    """A step in the history of a prompt: its output is in it, and the same in each prompt."""
    step = NODES[ref]
    tries = (each for r in replaced_by(ref)[::-1] for each in (*NODES[r]["previousAttempts"], r))
    heard = dict.fromkeys(shown for each in tries for _, shown in own_sayings(NODES[each]))
    output = NODES[step["output"]]
    heading = f"## Step {step['number']}: {step['role']}, {output['$status']}"
    head = "\n\n".join((heading, *heard, *(["The reply:"] if heard else []))) + "\n\n"
    form = re.compile(re.escape(head) + r"(`{4,})\n(.*?)\n?\1(?=\n\n|\n\Z)", re.S)
    need(found := form.search(prompt), f"step {step['number']} is not in a prompt that had to have it")
    read = read_reply(found[2] + "\n", output, NODES.get(step["body"]) or "", "the history of a prompt:", heading)
    need(read.keys() == output.keys(), "further fields in the history of a prompt:", heading)
    need(SHOWN.setdefault(ref, found[0]) == found[0], "two prompts show different texts of", ref)
    return found[0]


def events(key):
    return (n for n in NODES.values() if isinstance(n, dict) and {key, "atMs", "thread"} <= n.keys())


def before(key, own):
    """The events of the thread of a step, of the kind that has this key, newest first."""
    found = [n for n in events(key) if n["thread"] == own["thread"] and n["seq"] < own["seq"]]
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
        every += [a for e in before("attempt", NODES[ref]) if (a := NODES[e["attempt"]])["prev"] == prev]
        for step in sorted(every, key=lambda each: (each["thread"] == name, each["seq"])):
            need((step["prev"], step["number"]) == (prev, place + 1), what, "it is out of place")
            Attempt(step, chain[:place], start, NODES[NODES[ref]["workflow"]], tries).verify(what)
            tries.append(step)


class Parts:
    """A prompt, whose parts are taken from its beginning."""

    def __init__(self, text, what):
        self.rest, self.what, self.own = text, what, False

    def may(self, *parts):
        for part in parts:
            found = part.match(self.rest) if isinstance(part, re.Pattern) else self.rest.startswith(f"{part}\n\n")
            if not found:
                return None
            self.rest = self.rest[found.end() if found is not True else len(part) + 2 :]
        return found if parts else None

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


class Attempt:
    """A step, a failed attempt or a question, after the steps of `chain` and the attempts `tries`."""

    def __init__(self, step, chain, start, workflow, tries):
        self.step, self.chain, self.start, self.workflow, self.tries = step, chain, start, workflow, tries
        self.last, self.call = NODES[chain[-1]] if chain else None, next(iter(before("parentHead", step)), None)
        self.input = NODES.get((self.call or start)["input"]) if workflow["input"] else None
        since = self.last["seq"] if chain and self.last["thread"] == step["thread"] else 0
        self.is_own = any(n["thread"] == step["thread"] for n in events("workflowName"))  # else a fork inherited it
        self.entered = self.call and since < self.call["seq"]
        self.replaces = step["replaces"] and NODES[step["replaces"]]

    def data(self, step=None):
        found = {**NODES[step["output"]], "_body": NODES.get(step["body"]) or ""} if step else {}
        if step and step["child"] and NODES[NODES[step["child"]]["workflow"]]["workspace"]:
            found |= {"$folder": step["cwd"], "$gitBranch": f"uwf/{step['session']}"}
        return {**found, "input": self.input} if self.workflow["input"] is not None else found

    def follow(self, edge, step=None):
        """(status, role, text) of an edge."""
        if edge.get("then"):
            return "idle", f"{step['role']}/{NODES[step['output']]['$status']}", ""
        text = MUSTACHE.render(edge["prompt"], self.data(step))
        if edge["role"] == "$SUSPEND":
            return "suspended", step["role"], text.strip()
        return ("completed", None, text) if edge["role"] == "$END" else ("idle", edge["role"], text)

    def route(self, step):
        status, (source, _, taken) = NODES[step["output"]]["$status"], step["role"].rpartition("/")
        if status == "$SUSPEND":
            return "suspended", step["role"], str(NODES[step["output"]].get("reason")).strip()
        graph = self.workflow["graph"]
        return self.follow((graph[source][taken]["then"] if source else graph[step["role"]])[status], step)

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
        failed = step.get("failure") and text == base  # the agent could not be called
        if role is None or role["workflow"] or failed:  # a fan-out, whose branches have prompts, or a call
            is_known = self.instruction(text, base) if role else text == (NODES.get(step["said"]) or "")
            need(is_known, what, "another prompt")
        elif role["program"]:
            need(text == self.command(role["program"]), what, "another command")
        else:
            parts, last = Parts(text.removesuffix("\n"), what), text[:-1].rpartition("\n\n")[2]
            self.deliverable(role, parts, last)
            self.history(parts)
            parts.take("# Your instruction")
            instruction = parts.rest.removesuffix(f"\n\n{last}")
            need(self.instruction(instruction, base.strip()), what, "another instruction:", repr(instruction[:90]))

    def command(self, program):
        step, first = self.last, program["argv"][0]
        while step and step["next"]["reason"] == "role":  # it asked; what led to it came before
            step = step["prev"] and NODES[step["prev"]]
        contexts = [self.data(step if step and step["next"]["status"] == "idle" else None)]
        if contexts == [self.data()] and self.workflow["branch"]:
            contexts = [self.input[key] for key in ("output", "item") if key in self.input]
        return shlex.join([first, *(MUSTACHE.render(each, *contexts) for each in program["argv"][1:])])

    def deliverable(self, role, parts, last):
        """The role, the task, the input. How the form is described is not derived: it is the same
        in each prompt of the role, and names each status.
        """
        name, given = self.step["role"], self.input and fenced(dumped(self.input, indent=2))
        statuses = {*self.workflow["graph"].get(name, {}), "$SUSPEND"}
        is_known = SHOWN.setdefault((id(self.workflow), name, last[:9]), last) == last
        need(is_known and {*re.findall(r"`\$status: ([^`]+)`", last)} == statuses, parts.what, "another last line")
        if parts.may(f"You continue this session as the {name}: your role, the form of your reply and "
                     "the task are those of its beginning."):  # fmt: skip
            need(self.step["ownSession"], parts.what, "it has no session")
            parts.own = True
            parts.may(f"# Input\n\nThe thread was called again, with this input:\n\n{given}")
            return
        form = parts.rest.partition(f"\n\n# Your role: {name}\n\n")[0]
        parts.take(form, f"# Your role: {name}", SCOPE)
        found = {a or b for a, b in re.findall(r"^## `\$status: (.*)`$|^- `\$status: ([^`]+)`", form, re.M)}
        is_known = SHOWN.setdefault((id(self.workflow), name, form[:90]), form) == form
        fixed = re.sub(VARYING, "", form)
        is_known &= hashlib.sha256(fixed.encode()).hexdigest()[:8] in SENTENCES
        need(is_known and found == statuses, parts.what, "another form of the deliverable", fixed)
        texts = role["goal"], "\n".join(f"- {c}" for c in role["capabilities"]), role["procedure"], role["output"]
        parts.take(*(f"## {name}\n\n{text.strip()}" for name, text in zip(TITLES, texts) if text.strip()))
        text, root, caller = NODES.get(self.start["prompt"]), self.start, self.call and self.call["parent"]
        parts.take("# Task", *(["The task of the whole thread:", fenced(text)] if text.strip() else [NO_TASK]))
        while root["parent"]:
            root = NODES.get((above := NODES[root["parent"]]).get("start"), above)
        found = parts.may(CALLED)
        need(not self.is_own or (found and found[1]) == caller, parts.what, "another caller")
        parts.take(*[fenced(NODES[root["prompt"]])] * bool(found))
        parts.take(*["# Input", "The typed input of the thread:", given] * bool(given))

    def history(self, parts):
        """How far the thread is, and the steps before, all but those that the session knows."""
        step, chain, kind = self.step, self.chain, self.tries[-1].get("failure") if self.tries else None
        parts.take(re.compile(
            rf"# Progress\n\nThis is step {step['number']} of the thread\. You, the {step['role']}, have "
            r"(not replied yet|replied (once|\d+ times) before(, in this session|\. This is a new session: your "
            r"earlier replies(, or a summary of them,)? are below))\. "
            rf"Your working folder is {re.escape(dumped(step['cwd']))}\.({HALF_DONE % kind})?(\n\n)"))  # fmt: skip
        parts.may("# What happened " + ("since your last reply" if parts.own else "before"))
        begin = parts.summary(chain)
        if left := parts.may(re.compile(r"\((\d+) earlier steps? (is|are) left out for length: `uwf .*`\)\n\n")):
            begin += int(left[1])
        known = [0] + [n for n, ref in enumerate(chain, 1) if NODES[ref]["role"] == step["role"]] * parts.own
        first = int(found[1]) - 1 if (found := re.match(r"## Step (\d+): ", parts.rest)) else len(chain)
        known += [len(chain)] * bool(parts.own and (self.tries or self.replaces))
        need(first == begin or first in known, parts.what, "the history begins at step", first + 1)
        for ref in chain[first:]:
            parts.take(step_text(ref, parts.rest))
        if parts.may("# What you said last\n\nYour next reply replaces this one:"):
            parts.take(step_text(step["replaces"], parts.rest))
        if parts.may("# What a person said at an earlier attempt"):
            [parts.may(shown) for t in self.tries for _, shown in own_sayings(t)]

    def verify(self, what):
        recorded = self.step["role"], NODES[self.step["edgePrompt"]]
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
        step, results, (source, _, taken) = self.step, [], self.step["role"].rpartition("/")
        for place, (branch, end) in enumerate(zip(step["branches"], step["children"], strict=True)):
            recorded, own = NODES[step["output"]]["results"][place], {"$status": branch["status"], "_body": ""}
            if branch["status"] != "$cancelled":
                own = {**NODES[NODES[end]["output"]], "_body": NODES.get(NODES[end]["body"]) or ""}
            own |= {key: recorded[key] for key in ("$folder", "$gitBranch") if key in recorded}
            results.append({**own, "$index": place})
        one = {each["$status"] for each in results}
        then = {*self.workflow["graph"][source][taken]["then"]} - {"$mixed", "$empty"}
        status = one.pop() if len(one) == 1 and one <= then else "$mixed" if results else "$empty"
        named = zip(step["branches"], results, strict=True)
        return {"$status": status, "results": results, **{b["name"]: r for b, r in named if b["name"]}}


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
        contexts = [data] if edge["parallel"] else [data, item[event["index"]]]
        expected = "\n\n".join(filter(None, (MUSTACHE.render(branch["prompt"], *contexts), NODES.get(step["said"]))))
    need(NODES.get(event["prompt"]) == expected, event["thread"], "had to be called with", repr(expected))


def main(bundle):
    [resource.setrlimit(what, (most, most)) for what, most in MOST]  # a hostile bundle ends there
    manifest, variables = read_bundle(bundle)
    need(variables[f"@uwf/thread/{manifest['thread']}"] == manifest["head"], "another head")
    threads = {name: chain_of(variables[f"@uwf/thread/{name}"]) for name in manifest["threads"]}
    for name, thread in threads.items():
        verify_thread(name, *thread)
    steps = {(n["thread"], n["number"]): (n, *t) for t in threads.values() for n in map(NODES.get, t[0])}
    for event in events("parentHead"):
        found = steps.get((event["parent"], event["number"]))
        if found and (event["purpose"] == "poke") == bool(found[0]["replaces"]):
            verify_call(event, *found)  # a call that is open, or was replaced, has no step in the chain
    print(f"verified: {len(threads)} threads, {len(steps)} steps, root {manifest['root']}")


main(*sys.argv[1:])
