"""What can be taken back and done again."""

from devflow.ui.models.history import History, Step


def step(number: int) -> Step:
    return Step(f"operation {number}", f"Act {number}", (f"entry {number}",))


def test_undo_names_the_last_act_and_redo_names_the_undo() -> None:
    history = History()
    history.did(step(1))
    assert history.last == step(1)
    history.undid("undo of 1")
    assert history.last is None
    assert history.next == Step("undo of 1", "Act 1", ("entry 1",))
    history.redid("redo of 1")
    assert history.last == Step("redo of 1", "Act 1", ("entry 1",))
    assert history.next is None


def test_a_new_act_ends_what_could_be_done_again() -> None:
    history = History()
    history.did(step(1))
    history.undid("undo of 1")
    history.did(step(2))
    assert history.next is None
    assert history.last == step(2)


def test_fifty_acts_are_kept() -> None:
    history = History()
    for number in range(60):
        history.did(step(number))
    taken = 0
    while history.last is not None:
        history.undid(f"undo {taken}")
        taken += 1
    assert taken == 50
    assert history.next is not None
    assert history.next.words == "Act 10"


def test_an_act_that_cannot_be_taken_back_does_not_stand_in_the_way() -> None:
    history = History()
    history.did(step(1))
    history.did(step(2))
    history.drop_last()
    assert history.last == step(1)
