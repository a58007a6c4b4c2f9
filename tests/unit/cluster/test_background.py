"""Background: tasks from any thread, of which none outlives the cluster."""

import asyncio
import threading

from driver.cluster.background import Background


def test_work_starts_from_the_loop_and_from_other_threads():
    async def main():
        background, done = Background(asyncio.get_running_loop()), []

        async def work(name, ended):
            done.append(name)
            ended.set()

        here, there = asyncio.Event(), asyncio.Event()
        background.spawn(work, "here", here)
        thread = threading.Thread(target=background.spawn, args=(work, "there", there))
        thread.start()
        await here.wait()
        await there.wait()
        thread.join()
        return done

    assert sorted(asyncio.run(main())) == ["here", "there"]


def test_closing_ends_what_runs_and_nothing_starts_after_it():
    async def main():
        background, ended = Background(asyncio.get_running_loop()), []

        async def work():
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("work")

        background.spawn(work)
        await asyncio.sleep(0)
        await background.close()
        background.spawn(work)
        await asyncio.sleep(0)
        return ended, len(background), len(asyncio.all_tasks())

    assert asyncio.run(main()) == (["work"], 0, 1)


def test_what_work_raises_is_logged_with_its_name(caplog):
    async def main():
        background = Background(asyncio.get_running_loop())

        async def failing_work():
            raise ValueError("no good")

        background.spawn(failing_work)
        await background.close()

    asyncio.run(main())
    assert "failing_work failed" in caplog.text
    assert "no good" in caplog.text
