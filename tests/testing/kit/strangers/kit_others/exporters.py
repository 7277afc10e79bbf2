"""The wrong exporters: each writes a line for each step."""

# ruff: noqa: N801 (a class is called as its entry point is)

import os
import threading
import time
from pathlib import Path


class right_exporter:
    def export(self, thread):
        yield f"{thread.id}\n"
        for step in thread.steps():
            yield f"{step.ref} {step.role}\n".encode()


class writes_to_any_file(right_exporter):
    pass


class knows_no_suspension(right_exporter):
    def export(self, thread):
        if thread.status == "suspended" and thread.count:
            raise KeyError("suspended")
        return super().export(thread)


class ends_at_the_end(right_exporter):
    def export(self, thread):
        yield from super().export(thread)
        if thread.status == "cancelled":
            raise SystemExit(0)


class gives_numbers(right_exporter):
    def export(self, thread):
        yield from super().export(thread)
        yield thread.count


class gives_halves_of_letters(right_exporter):
    def export(self, thread):
        yield from super().export(thread)
        if not thread.count:
            yield "\ud83d"


class shows_the_age_of_a_failure(right_exporter):
    def export(self, thread):
        yield from super().export(thread)
        yield from (f"{each.ref} {time.monotonic_ns()}\n" for each in thread.pending)


class shares_its_thread(right_exporter):
    def export(self, thread):
        type(self).thread = thread
        yield f"{thread.id}\n"
        yield from (f"{step.ref}\n" for step in type(self).thread.steps())


class stores_its_output(right_exporter):
    def export(self, thread):
        parts = list(super().export(thread))
        store = thread._engine.store
        with store.transaction():
            store.put_text("".join(map(str, parts)))
        return parts


class shortens_the_folder(right_exporter):
    def export(self, thread):
        thread.node["cwd"] = Path(thread.node["cwd"]).name
        return super().export(thread)


class keeps_a_copy(right_exporter):
    def export(self, thread):
        parts = list(super().export(thread))
        Path("copy.txt").write_text(str(parts))
        return parts


class counts_in_the_environment(right_exporter):
    def export(self, thread):
        os.environ["KIT_EXPORTED"] = str(time.monotonic_ns())
        return super().export(thread)


class leaves_a_writer_running(right_exporter):
    def export(self, thread):
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        return super().export(thread)


class prints_each_step(right_exporter):
    def export(self, thread):
        for part in super().export(thread):
            print(part)
            yield part
