import time
from tests.sql.queue_calls import calls
from tests.sql.test_plans import touched_by, burst

async def test_tmp(database):
    async with calls(database, real_time=True) as queue:
        sig = await queue.admin.fetchval("select oid::regprocedure::text from pg_proc where proname='claim' and pronamespace='queues'::regnamespace")
        for reset in (False, True):
            if reset:
                for name in ("enable_seqscan","enable_bitmapscan","enable_sort","enable_nestloop","enable_mergejoin","enable_material"):
                    await queue.admin.execute(f"alter function {sig} reset {name}")
            async with database.connect("runtime") as c:
                queue.runtime = c
                worker = await queue.worker()
                await queue.admin.execute("delete from queues.ready; delete from queues.task; delete from queues.lease")
                await queue.admin.execute("vacuum analyze queues.ready"); 
                for _ in range(10): await queue.claim(worker, 100)
                await burst(queue, 200000)
                t=time.perf_counter()
                touched = await touched_by(queue, queue.claim(worker, 100))
                print("RESET", reset, touched, time.perf_counter()-t)

async def test_time(database):
    import re
    async with calls(database, real_time=True) as queue:
        src = await queue.admin.fetchval("select pg_get_functiondef(oid) from pg_proc where proname='claim' and pronamespace='queues'::regnamespace")
        old = src.replace("          limit v_cap))", "          ))")
        assert old != src
        worker = await queue.worker()
        for rnd in range(3):
            for label, text in (("new", src), ("old", old)):
                await queue.admin.execute(text)
                await burst(queue, 20000)
                t=time.perf_counter()
                n=0
                while leases := await queue.claim(worker, 100):
                    n+=len(leases)
                dt=time.perf_counter()-t
                print(label, n, dt/n*1e6, "us")
