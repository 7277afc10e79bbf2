"""Images from files: the model sees them, records refer to them, and hostile ones are rejected."""

import base64
import hashlib
import json
import os
import struct
import zlib

import pytest
from builtin_kit import DONE, model_at, turn, use

from uwf_agent_builtin.images import IMAGE_BYTES, MOST_IMAGES, format_of
from uwf_agent_builtin.window import Gauge, size_of, to_leave_out
from uwf_core.api import BadRequest, Unavailable
from uwf_core.testing.project import Project
from uwf_llm.chat import Image, Message

# Of 37 x 21 pixels, by Pillow 12; of the JPEG what precedes its pixels, without its tables.
SAMPLES = {
    "PNG": (
        "iVBORw0KGgoAAAANSUhEUgAAACUAAAAVCAIAAABOhrD5AAAAJklEQVR4nGM8IWfDQEfARE/LRu0btW/UvlH7Ru0btW"
        "/UvlH7qAAAMW0BTGz0GRcAAAAASUVORK5CYII="
    ),
    "GIF": (
        "R0lGODdhJQAVAIAAAAAAAAAAACwAAAAAJQAVAEAILwABCBxIsKDBgwgTKlzIsKHDhxAjSpxIsaLFixgzatzIsaPHjyBD"
        "ihxJsqRJkgEBADs="
    ),
    "JPEG": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAsRXhpZgAATU0AKgAAAAgAAQEOAAIAAAAKAAAAGgAAAABhIHBpY3R1cmUA/8"
        "IAEQgAFQAlAwEiAAIRAQMRAf/E"
    ),
    "WebP lossy": (
        "UklGRkAAAABXRUJQVlA4IDQAAAAwAwCdASolABUAP3G202G0ryqmJWgCkC4JZwDOOA8KmggAAP7eEaWD+KHmt7B1NmRN"
        "W1gA"
    ),
    "WebP lossless": "UklGRh4AAABXRUJQVlA4TBEAAAAvJAAFAAdQjyKXp/+BiOh/AAA=",
    "WebP extended": (
        "UklGRpAAAABXRUJQVlA4WAoAAAAYAAAAJAAAFAAAQUxQSAoAAAABB1DAiAhERP8DVlA4IDQAAAAwAwCdASolABUAP3G2"
        "02G0ryqmJWgCkC4JZwDOOA8KmggAAP7eEaWD+KHmt7B1NmRNW1gA"
    ),
}
PNG = base64.b64decode(SAMPLES["PNG"])
LOOK = turn(use("read_file", path="shot.png"))
AGAIN = "---\n$status: done\n---\nAgain."
NO_IMAGES = {"error": {"status": 400, "message": "this model does not support image input"}}


def png(width, height, more=b""):
    """A PNG of so many pixels that has none."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk + more


def in_base64(data):
    return base64.b64encode(data).decode()


def has_image(request, data=PNG):
    return in_base64(data) in json.dumps(request.body)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_image_is_known_by_its_bytes_whatever_its_name(desk, name):
    data = base64.b64decode(SAMPLES[name])
    (desk.work / "notes.txt").write_bytes(data)
    answered = desk.tool("read_file", path="notes.txt")
    kind = name.partition(" ")[0]
    assert answered.text == (
        f"[image: {kind}, 37 x 21 pixels, {len(data)} bytes, "
        f"sha256 {hashlib.sha256(data).hexdigest()}]"
    )
    assert answered.image == Image(media_type=f"image/{kind.lower()}", data=data)
    for cut in range(len(data)):
        format_of(data[:cut])  # does not fail


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_a_model_of_each_protocol_sees_it(desk, protocol):
    (desk.work / "shot.png").write_bytes(PNG)
    server = desk.model(LOOK, DONE)
    url = {"anthropic": server.anthropic_url, "gemini": server.gemini_url}
    model = model_at(url.get(protocol, server.openai_url))
    request = desk.request(server).with_(model=_with_protocol(model, protocol))
    assert desk.agent().run(request, desk.sink).text == DONE
    assert has_image(server.requests[1]) and "37 x 21 pixels" in json.dumps(server.requests[1].body)


def _with_protocol(model, protocol):
    from dataclasses import replace

    return replace(model, protocol=protocol)


def test_a_session_refers_to_it_and_sends_the_same_bytes_in_another_process(desk):
    (desk.work / "shot.png").write_bytes(PNG)
    server = desk.model(turn(*LOOK["toolCalls"] * 2), DONE, AGAIN, AGAIN)
    session = desk.agent().run(desk.request(server), desk.sink).session
    (desk.work / "shot.png").write_bytes(png(9, 9))
    again = desk.request(server, session=session, prompt="Go on.")
    desk.agent().run(again, desk.sink)
    first, last = server.requests[1].body["messages"], server.requests[2].body["messages"]
    assert last[: len(first)] == first
    forked = desk.agent().fork(session, again)
    desk.agent().run(desk.request(server, session=forked), desk.sink)
    assert has_image(server.requests[3])
    transcript = (desk.state / f"sessions/{session}.jsonl").read_text()
    digest = hashlib.sha256(PNG).hexdigest()
    assert in_base64(PNG)[:40] not in transcript and transcript.count(f'"{digest}"') == 2
    [file] = (desk.state / "sessions/images").iterdir()
    assert file.name == f"{digest}.png" and file.read_bytes() == PNG
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["gone", "changed", "link", "pipe"])
def test_an_image_that_the_session_lost_is_named_and_nothing_else_is_sent(desk, damage):
    (desk.work / "shot.png").write_bytes(PNG)
    (desk.outside / "other.png").write_bytes(PNG)
    server = desk.model(LOOK, DONE, AGAIN, LOOK, DONE)
    session = desk.agent().run(desk.request(server), desk.sink).session
    [file] = (desk.state / "sessions/images").iterdir()
    file.unlink()
    match damage:
        case "changed":
            file.write_bytes(png(9, 9))
        case "link":
            file.symlink_to(desk.outside / "other.png")
        case "pipe":
            os.mkfifo(file)
    assert desk.agent().run(desk.request(server, session=session), desk.sink).text == AGAIN
    body = json.dumps(server.requests[2].body)
    assert "no longer in the session" in body and "data:image" not in body
    desk.agent().run(desk.request(server, session=session), desk.sink)
    assert has_image(server.requests[-1]) and file.read_bytes() == PNG, "a new look restores it"


def test_a_model_without_images_gets_the_reason_and_works_on(desk):
    (desk.work / "shot.png").write_bytes(PNG)
    server = desk.model(LOOK, NO_IMAGES, turn(use("list_files")), DONE, AGAIN)
    reply = desk.agent().run(desk.request(server), desk.sink)
    assert reply.text == DONE
    for request in server.requests[2:]:
        assert not has_image(request)
        assert "rejected the image" in json.dumps(request.messages)
    assert any("does not support image input" in note for note in desk.sink.notes())
    desk.agent().run(desk.request(server, session=reply.session), desk.sink)
    assert not has_image(server.requests[-1]), "nor in the next process"


def test_an_image_that_the_service_cannot_read_does_not_take_the_others_with_it(desk):
    (desk.work / "shot.png").write_bytes(PNG)
    (desk.work / "bad.png").write_bytes(png(5, 5))
    error = {"error": {"status": 400, "message": "Could not process image"}}
    server = desk.model(LOOK, turn(use("read_file", path="bad.png")), error, DONE)
    assert desk.agent().run(desk.request(server), desk.sink).text == DONE
    assert has_image(server.requests[3]) and not has_image(server.requests[3], png(5, 5))


def test_a_session_continues_on_a_model_that_takes_no_images(desk):
    (desk.work / "shot.png").write_bytes(PNG)
    server = desk.model(LOOK, DONE, NO_IMAGES, AGAIN)
    session = desk.agent().run(desk.request(server), desk.sink).session
    assert desk.agent().run(desk.request(server, session=session), desk.sink).text == AGAIN


def test_a_server_that_fails_with_words_about_images_is_not_asked_for_ever(desk):
    (desk.work / "shot.png").write_bytes(PNG)
    error = {"error": {"status": 500, "message": "image input is not supported: no mmproj"}}
    server = desk.model(LOOK, error, DONE)
    agent = desk.agent(max_attempts=1)
    assert agent.run(desk.request(server), desk.sink).text == DONE


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [(400, "unknown parameter 'x'", BadRequest), (500, "overloaded", Unavailable)],
)
def test_another_failure_is_reported_as_it_is_and_the_image_stays(desk, status, message, kind):
    (desk.work / "shot.png").write_bytes(PNG)
    error = {"error": {"status": status, "message": message}}
    server = desk.model(LOOK, error, *[error] * (status == 400), DONE)
    with pytest.raises(kind, match=message) as raised:
        desk.agent(max_attempts=1).run(desk.request(server), desk.sink)
    again = desk.request(server, session=raised.value.session)
    desk.agent(max_attempts=1).run(again, desk.sink)
    assert has_image(server.requests[-1])


HOSTILE = {
    "a bomb": (png(60_000, 60_000), "60,000 x 60,000 pixels"),
    "no pixels": (png(0, 5), "header is damaged"),
    "a cut header": (PNG[:14] + b"\0", "header is damaged"),
    "an endless header": (b"\xff\xd8\xff\0" + b"\xff" * 3_000_000, "header is damaged"),
    "large": (png(5, 5, bytes(IMAGE_BYTES)), "at most 3,750,000 can be read"),
    "another format": (b"BM\0\0\0\0", "only text, and images as PNG, JPEG, GIF, WebP"),
    "a vector": (b"<svg onload='x'/>", "<svg"),
    "a script that begins as a GIF": (b"GIF89a=1;\nprint('x')\n", "print('x')"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_an_error_or_a_text_and_no_image(desk, name):
    data, words = HOSTILE[name]
    (desk.work / "shot.png").write_bytes(data)
    answered = desk.tool("read_file", path="shot.png")
    assert words in answered.text and answered.image is None


def test_no_path_leads_to_an_image_outside(desk):
    (desk.outside / "x.png").write_bytes(PNG)
    (desk.work / "link.png").symlink_to(desk.outside / "x.png")
    os.mkfifo(desk.work / "pipe.png")
    (desk.work / ".env").write_bytes(PNG)
    (desk.work / "folder.png").mkdir()
    for path in ("link.png", "../outside/x.png", "pipe.png", ".env", "folder.png"):
        answered = desk.tool("read_file", path=path)
        assert answered.is_error and answered.image is None, path


def test_a_request_has_a_bounded_number_of_images(desk):
    """Old ones are left out; many at once are refused."""
    names = [f"{number}.png" for number in range(MOST_IMAGES + 6)]
    for number, name in enumerate(names):
        (desk.work / name).write_bytes(png(9, 9, bytes([number])))
    at_once = turn(*(use("read_file", path=name) for name in names[: MOST_IMAGES + 1]))
    one_by_one = [turn(use("read_file", path=name)) for name in names]
    server = desk.model(at_once, *one_by_one, DONE)
    desk.agent(max_turns=60).run(desk.request(server), desk.sink)
    counts = [json.dumps(request.body).count("data:image") for request in server.requests]
    assert counts[1] == MOST_IMAGES and max(counts) == MOST_IMAGES
    assert [call.is_error for call in desk.sink.calls()[: MOST_IMAGES + 1]] == [
        *[False] * MOST_IMAGES,
        True,
    ]
    assert has_image(server.requests[-1], png(9, 9, bytes([len(names) - 1]))), "the newest stays"


def test_an_image_with_a_secret_is_not_sent(desk):
    secret = "sk-a-secret-of-the-user"
    (desk.work / "shot.png").write_bytes(png(5, 5, secret.encode()))
    desk.env["SOME_API_KEY"] = secret
    server = desk.model(LOOK, DONE)
    desk.agent().run(desk.request(server), desk.sink)
    assert "holds a secret" in json.dumps(server.requests[1].body)
    assert not has_image(server.requests[1], png(5, 5, secret.encode()))


def test_an_image_counts_as_tokens_of_the_window_and_is_left_out_with_its_result():
    def message(width):
        image = Image(media_type="image/png", data=png(width, 1000))
        return Message(role="tool", text="x", tool_call_id=str(width), images=(image,))

    gauge = Gauge()
    assert gauge.tokens(size_of(message(750))) == pytest.approx(1000, abs=10)
    assert gauge.tokens(size_of(message(8000))) == pytest.approx(1600, abs=10)
    said = [Message(role="assistant")] * 2
    prompt = size_of(message(8000))
    assert to_leave_out([message(8000), *said], prompt, gauge, 1000) == ["8000"]


def test_the_record_of_a_step_names_the_image_and_has_none_of_its_bytes(tmp_path, desk):
    project = Project(tmp_path)
    server = desk.model(LOOK, DONE)
    project.workflow("look", LOOKING)
    project.config(
        f"providers: {{local: {{baseUrl: {server.openai_url}}}}}\n"
        "models: {scripted: {provider: local, name: scripted-model}}\n"
        "defaultModel: scripted\ndefaultAgent: builtin\n"
    )
    (project.folder / "shot.png").write_bytes(PNG)
    del project.env["UWF_DEFAULT_AGENT"]
    with project.client() as uwf:
        thread = uwf.start("look", "Look.")["thread"]
        uwf.exec(thread)
        turns = json.dumps([*uwf.turns(thread)])
        exported = b"".join(uwf.export(thread, "atif")).decode()
    digest = hashlib.sha256(PNG).hexdigest()
    for record in (turns, exported):
        assert f"sha256 {digest}" in record and in_base64(PNG)[:40] not in record


LOOKING = """\
version: 1
name: look
roles:
  viewer:
    goal: Look.
    tools: [read_file]
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: viewer, prompt: Look.}
    resume: {role: viewer, prompt: Look.}
  viewer:
    done: {role: $END, prompt: Done.}
"""
