"""Tasks go on, and what they write leaves, at the end of the read that has their answers."""

import asyncio
import contextvars
import sys

import pytest

from driver.net.after_read import Waiter, begin_read, call_after_read, end_read

NAME = contextvars.ContextVar("name")


class Task(asyncio.tasks._PyTask):
    """A task whose steps are written in Python."""


def python_tasks(loop, coroutine, **how):
    return Task(coroutine, loop=loop, **how)


async def answered(waiter):
    """Waits as an awaitable response does."""

    class Answer:
        def __await__(self):
            waiter.blocks()
            yield waiter
            waiter.result()

    await Answer()


def waiters(count):
    loop = asyncio.get_running_loop()
    return [Waiter(loop) for _ in range(count)]


def read(*woken, answers=None):
    """A read with an answer for each waiter."""
    assert begin_read()
    for waiter in woken:
        waiter.wake()
    end_read(len(woken) if answers is None else answers)


async def in_a_callback(function, *args):
    """Call where the loop calls what reads, and no task is on its way."""
    ended = asyncio.get_running_loop().create_future()

    asyncio.get_running_loop().call_soon(lambda: ended.set_result(function(*args)))
    return await ended


async def log_of(waiter, name, log):
    try:
        await answered(waiter)
        log.append(name)
    except BaseException as error:
        log.append((name, type(error).__name__))
        raise


async def tasks_of(log, *given):
    tasks = [asyncio.ensure_future(log_of(waiter, n, log)) for n, waiter in enumerate(given)]
    await asyncio.sleep(0)
    return tasks


def test_all_tasks_of_a_read_have_gone_on_when_it_ends(run):
    async def main():
        log, given = [], waiters(3)
        tasks = await tasks_of(log, *given)

        def reads():
            begin_read()
            for waiter in given:
                waiter.wake()
                log.append("handed out")
            end_read(3)
            log.append("end")

        await in_a_callback(reads)
        await asyncio.gather(*tasks)
        return log

    assert run(main()) == ["handed out"] * 3 + [0, 1, 2, "end"]


def test_many_may_wait_for_one_answer(run):
    async def main():
        log, (waiter,) = [], waiters(1)
        tasks = [asyncio.ensure_future(log_of(waiter, n, log)) for n in range(3)]
        await asyncio.sleep(0)
        await in_a_callback(read, waiter)
        before = list(log)
        await asyncio.gather(*tasks)
        return before

    assert run(main()) == [0, 1, 2]


def test_within_a_task_another_one_waits_for_the_next_pass(run):
    async def main():
        log, (waiter,) = [], waiters(1)
        (task,) = await tasks_of(log, waiter)
        read(waiter)  # by this task, as a transport in memory does
        log.append("this task")
        await task
        return log

    assert run(main()) == ["this task", 0]


def test_without_a_read_a_task_waits_for_the_next_pass(run):
    async def main():
        log, (waiter,) = [], waiters(1)
        (task,) = await tasks_of(log, waiter)
        await in_a_callback(lambda: (waiter.wake(), log.append("callback")))
        await task
        return log

    assert run(main()) == ["callback", 0]


@pytest.mark.parametrize("kind", ["python", "debug"])
def test_tasks_in_python_and_in_debug_mode_wait_for_the_next_pass(run, kind):
    async def main():
        loop = asyncio.get_running_loop()
        if kind == "debug":
            loop.set_debug(True)
        else:
            loop.set_task_factory(python_tasks)
        log, (waiter,) = [], waiters(1)
        (task,) = await tasks_of(log, waiter)
        await in_a_callback(lambda: (read(waiter), log.append("end")))
        await task
        loop.set_debug(False)
        return log

    assert run(main()) == ["end", 0]


def test_who_is_woken_by_a_step_waits_for_the_next_pass(run):
    async def main():
        log, (first, second) = [], waiters(2)

        async def wakes():
            await answered(first)
            read_again = begin_read()
            second.wake()
            log.append(("woke", read_again))

        tasks = [asyncio.ensure_future(wakes()), *await tasks_of(log, second)]
        await asyncio.sleep(0)
        await in_a_callback(lambda: (read(first), log.append("end")))
        await asyncio.gather(*tasks)
        return log

    assert run(main()) == [("woke", False), "end", 0]


def test_who_is_cancelled_between_answer_and_step_is_cancelled(run):
    async def main():
        log, (first, second) = [], waiters(2)
        tasks = []

        async def cancels():
            await answered(first)
            tasks[1].cancel()

        tasks += [asyncio.ensure_future(cancels()), *await tasks_of(log, second)]
        await asyncio.sleep(0)
        await in_a_callback(read, first, second)
        await asyncio.gather(*tasks, return_exceptions=True)
        return log, tasks[1].cancelled()

    assert run(main()) == ([(0, "CancelledError")], True)


def test_cancelling_reaches_whoever_waits_with_its_message(run):
    async def main():
        log, (waiter,) = [], waiters(1)
        (task,) = await tasks_of(log, waiter)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await task
        read(waiter)  # late
        return log, waiter.cancelled(), waiter.cancel()

    assert run(main()) == ([(0, "CancelledError")], True, False)


def test_time_limits_groups_and_shields_are_those_of_asyncio(run):
    async def main():
        given = waiters(6)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answered(given[0]), 0.01)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await answered(given[1])
        with pytest.raises(ExceptionGroup):
            await group_of(answered(given[2]), fails())
        shielded = asyncio.ensure_future(answered(given[3]))
        outer = asyncio.ensure_future(asyncio.wait_for(asyncio.shield(shielded), 0.01))
        with pytest.raises(TimeoutError):
            await outer
        together = asyncio.gather(answered(given[4]), answered(given[5]))
        await asyncio.sleep(0)
        await in_a_callback(read, *given[3:])
        await asyncio.gather(shielded, together)
        return [waiter.cancelled() for waiter in given]

    async def group_of(*work):
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)

    async def fails():
        await asyncio.sleep(0)
        raise LookupError

    assert run(main()) == [True] * 3 + [False] * 3


def test_a_task_keeps_its_context(run):
    async def main():
        (waiter,) = waiters(1)
        seen = []

        async def named():
            NAME.set("task")
            await answered(waiter)
            seen.append(NAME.get())
            NAME.set("later")

        task = asyncio.ensure_future(named())
        await asyncio.sleep(0)
        await in_a_callback(lambda: (read(waiter), seen.append(NAME.get(None))))
        await task
        return seen

    assert run(main()) == ["task", None]


def test_a_context_that_is_entered_already_is_no_hindrance(run):
    async def main():
        loop, log, (waiter,) = asyncio.get_running_loop(), [], waiters(1)
        context = contextvars.copy_context()
        task = loop.create_task(log_of(waiter, 0, log), context=context)
        await asyncio.sleep(0)
        loop.call_soon(lambda: (read(waiter), log.append("end")), context=context)
        await task
        return log

    assert run(main()) == ["end", 0]


def test_what_a_step_raises_is_the_task_s(run):
    async def main():
        given = waiters(2)

        async def fails():
            await answered(given[0])
            raise LookupError

        log = []
        tasks = [asyncio.ensure_future(fails()), *await tasks_of(log, given[1])]
        await asyncio.sleep(0)
        await in_a_callback(read, *given)
        return log, type((await asyncio.gather(*tasks, return_exceptions=True))[0])

    assert run(main()) == ([0], LookupError)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_program_leaves_the_loop_after_the_others_have_gone_on(kind):
    log, loop = [], asyncio.new_event_loop()

    async def main():
        given = waiters(2)

        async def ends():
            await answered(given[0])
            raise kind

        await asyncio.gather(
            asyncio.ensure_future(ends()),
            log_of(given[1], 1, log),
            in_a_callback(lambda: loop.call_soon(read, *given)),
            return_exceptions=True,
        )

    with pytest.raises(kind):
        loop.run_until_complete(main())
    assert log == [1]
    loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop), return_exceptions=True))
    loop.close()


@pytest.mark.parametrize(("answers", "expected"), [(1, ["sent", "end"]), (2, ["end", "sent"])])
def test_what_one_answer_leads_to_is_sent_with_its_read(run, answers, expected):
    async def main():
        loop, log, (waiter,) = asyncio.get_running_loop(), [], waiters(1)

        async def writes():
            await answered(waiter)
            call_after_read(loop, lambda: log.append("sent"))

        task = asyncio.ensure_future(writes())
        await asyncio.sleep(0)
        await in_a_callback(lambda: (read(waiter, answers=answers), log.append("end")))
        await task
        await asyncio.sleep(0)
        return log

    assert run(main()) == expected


def test_without_a_read_what_is_written_is_sent_in_the_next_pass(run):
    async def main():
        log = []
        call_after_read(asyncio.get_running_loop(), lambda: log.append("sent"))
        log.append("written")
        await asyncio.sleep(0)
        return log

    assert run(main()) == ["written", "sent"]


def test_a_write_that_fails_is_told_to_the_loop_and_keeps_no_other_back(run):
    async def main():
        loop, log, told = asyncio.get_running_loop(), [], []
        loop.set_exception_handler(lambda _, context: told.append(context["exception"]))

        def reads():
            begin_read()
            call_after_read(loop, lambda: 1 / 0)
            call_after_read(loop, lambda: log.append("sent"))
            end_read(1)

        await in_a_callback(reads)
        await asyncio.sleep(0)
        return log, [type(error) for error in told]

    assert run(main()) == (["sent"], [ZeroDivisionError])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="tasks that begin at once came with 3.12")
def test_tasks_that_begin_at_once_are_woken_as_well():
    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        log, (waiter,) = [], waiters(1)
        (task,) = await tasks_of(log, waiter)
        await in_a_callback(lambda: (read(waiter), log.append("end")))
        await task
        return log

    assert asyncio.run(main()) == [0, "end"]  # uvloop 0.23 does not know such tasks
