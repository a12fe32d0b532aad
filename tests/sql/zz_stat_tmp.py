import os, collections
import tests.sql.queue_machine as qm
from tests.sql.test_state_machine import SETTINGS
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

c = collections.Counter()
for name in [
    "_claim",
    "_complete",
    "_close",
    "_rescue",
    "_drain",
    "_enqueue",
    "_stop",
    "_beat",
    "_set_clock",
    "_complete_here",
]:

    def wrap(name):
        f = getattr(qm.QueueMachine, name)

        def g(self, *a, **k):
            r = f(self, *a, **k)
            c[name] += 1
            if name == "_claim":
                c["claimed", len(r)] += 1
            if name == "_drain":
                for t in self.model.tasks.values():
                    for o, n in t.outcomes.items():
                        c["out", o] += n
                    c["place", t.place, t.reason] += 1
            if name == "_close":
                c["close", a[0]] += 1
            return r

        setattr(qm.QueueMachine, name, g)

    wrap(name)


def test_x(database):
    import time

    with qm.opened(database.admin_url) as s:
        t = time.time()
        run_state_machine_as_test(
            lambda: qm.QueueMachine(s),
            settings=settings(
                SETTINGS,
                max_examples=int(os.environ.get("N", "40")),
                stateful_step_count=int(os.environ.get("S", "40")),
            ),
        )
        print(time.time() - t)
    for k, v in sorted(c.items(), key=str):
        print(k, v)
