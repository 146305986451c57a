import asyncio

from common.group_commit import GroupCommit

NEVER_S = 600.0


class Store:
    def __init__(self) -> None:
        self.groups: asyncio.Queue[list[int]] = asyncio.Queue()
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def __call__(self, group: list[int]) -> None:
        self.groups.put_nowait(group)
        await self.may_go_on.wait()


def test_group_is_stored_after_the_delay():
    async def run() -> None:
        store = Store()
        commit = GroupCommit(store, delay_s=0.001, max_size=8)
        for number in range(3):
            commit.put(number)
        assert await store.groups.get() == [0, 1, 2]

    asyncio.run(run())


def test_due_size_and_urgent_items_end_the_wait():
    async def run() -> None:
        store = Store()
        commit = GroupCommit(store, delay_s=NEVER_S, max_size=3, due_size=2)
        commit.put(1)
        await asyncio.sleep(0)
        assert store.groups.empty()
        commit.put(2)
        assert await store.groups.get() == [1, 2]
        commit.put(3, is_urgent=True)
        assert await store.groups.get() == [3]

    asyncio.run(run())


def test_items_of_a_running_store_form_the_next_groups():
    async def run() -> None:
        store = Store()
        store.may_go_on.clear()
        commit = GroupCommit(store, delay_s=NEVER_S, max_size=3)
        for number in range(3):
            commit.put(number)
        assert await store.groups.get() == [0, 1, 2]
        for number in range(3, 8):
            commit.put(number)
        await asyncio.sleep(0)
        assert store.groups.empty()
        store.may_go_on.set()
        await commit.finish()
        assert [store.groups.get_nowait() for _ in range(2)] == [[3, 4, 5], [6, 7]]

    asyncio.run(run())


def test_items_of_a_running_store_wait_for_others():
    async def run() -> None:
        store, loop, passed_s = Store(), asyncio.get_running_loop(), 0.0
        clock = loop.time
        loop.time = lambda: clock() + passed_s  # type: ignore[method-assign]
        commit = GroupCommit(store, delay_s=NEVER_S, max_size=3, due_size=2)
        store.may_go_on.clear()
        for number in range(3):
            commit.put(number)
        assert await store.groups.get() == [0, 1, 2]
        commit.put(3)
        passed_s = NEVER_S
        store.may_go_on.set()
        await asyncio.sleep(0.01)
        assert store.groups.empty()
        commit.put(4)
        assert await store.groups.get() == [3, 4]

    asyncio.run(run())
