"""The page of a match: in a real browser it shows what the record says, at every move."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dominoenv import Game, Record, RecordError, Rules, make_rules, verify_record, write_record
from dominoenv.__main__ import main
from dominoenv.core.program import INVALID, OK, WRONG_USE
from dominoenv.games.match_play import MatchPlay
from dominoenv.records.annotations import for_people, mistakes
from dominoenv.replay import page, write_page
from dominoenv.replay.chart import score_chart
from dominoenv.replay.frames import SHOWN, Frames, changes
from tests.browser import open_browser

SMALL = {"max_pip": 6, "hand_size": 4, "players": 3, "rounds": [6, 5]}
EIGHT = make_rules("mexican_train", preset="station", players=8)
FEET = make_rules("chicken_foot", players=4)
HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{data}} & Co"]


def played(rules: Rules, seed: int = 3, names: list[str] | None = None, advice: Any = None) -> Any:
    """Return a record of random play; advice: what stands beside a move, given (rng, legal)."""
    rng, game = random.Random(seed), Game(rules.game, rules, seed=seed)
    while True:
        while not game.round_over:
            legal = game.legal_moves()
            note = advice(rng, legal) if advice and len(legal) > 1 else None
            game.push(rng.choice(legal), note)
        if game.over:
            return game.record(names)
        game.next_round()


def chances(rng: random.Random, legal: list[str]) -> Any:
    """Return sharp probabilities and some scores, of which one is left out."""
    weights = [rng.random() ** 6 for _ in legal]
    return {
        "probability": {m: w / sum(weights) for m, w in zip(legal, weights, strict=True)},
        "score": {move: rng.uniform(-9, 9) for move in legal[1:]},
    }


def open_page(browser: Any, folder: Path, record: Record) -> None:
    write_page(folder / "page.html", record)
    browser.get((folder / "page.html").as_uri())


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    driver = open_browser()
    driver.set_script_timeout(600)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    chromium.get("about:blank")
    chromium.get_log("browser")
    yield chromium
    assert chromium.get_log("browser") == []  # errors of the script, and what the page may not do


# ------------------------------------------------------------------------------ every position

# What a reader of the page sees, read out of the document.
READ = """
const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
const seen = (selector, key) => [...document.querySelectorAll(selector)]
  .filter((one) => getComputedStyle(one).display !== "none").map((one) => one.dataset[key]).sort();
const read = () => ({
  round: Number(document.getElementById("round").value),
  move: Number(document.getElementById("move").value),
  tiles: seen("#table .tile", "tile"),
  waiting: seen("#table .tile.waiting", "tile"),
  markers: seen("#table .marker", "train"),
  hands: all("#seats > li", (li) => [...li.querySelectorAll(".bone")].map((b) => b.textContent)),
  labels: all("#seats > li", (li) => [...li.querySelectorAll(".bone")].map((b) => b.ariaLabel)),
  scores: all("#seats .who span", (one) => parseInt(one.textContent.split("·")[1])),
  mover: all("#seats > li.mover", (li) => Number(li.dataset.seat)),
  boneyard: document.getElementById("boneyard").textContent,
  legal: all("#legal [data-legal]", (row) => row.dataset.legal).sort(),
  chosen: all("#legal .chosen", (row) => row.dataset.legal),
  now: document.getElementById("now").textContent,
  listed: document.querySelector("#moves [aria-current]").textContent,
});
"""
WALK = (
    READ
    + """
const next = document.querySelector('[data-do="next"]');
const found = [read()];
for (;;) {
  next.click();
  const now = read(), last = found[found.length - 1];
  if (now.round === last.round && now.move === last.move) break;
  found.push(now);
}
return found;
"""
)


def expected(game: Game, move: int, chosen: str | None) -> dict[str, Any]:
    """Return what the page should show, read from the game alone."""
    position = game.position()
    hands, is_over = position["hands"], game.round_over
    lying = {tile for hand in hands for tile in hand} | set(position["boneyard"])
    every = {game.rules.tiles.text(tile) for tile in range(game.rules.tiles.size)}
    return {
        "round": game.round,
        "move": move,
        "tiles": sorted(every - lying),
        "waiting": waiting(game, position),
        "markers": [str(seat) for seat in position.get("markers", [])],
        "hands": [[tile.replace("-", "") for tile in hand] for hand in hands],
        "labels": hands,
        "scores": game.scores,
        "mover": [] if is_over else [game.to_move],
        "boneyard": f"boneyard {len(position['boneyard'])}",
        "legal": sorted(game.legal_moves()),
        "chosen": [] if chosen is None else [chosen],
    }


def waiting(game: Game, position: dict[str, Any]) -> list[str]:
    """Return the doubles that wait for a tile."""
    if game.rules.game == "chicken_foot":
        foot = int(game.state["foot"][0])
        return [f"{foot}-{foot}"] if foot >= 0 else []
    trains = {**dict(enumerate(position["trains"])), "M": position["mexican_train"]}
    return sorted(trains[train][-1] for train in position["pending"])


def positions(record: Record) -> Iterator[dict[str, Any]]:
    """Yield what every position of a seeded match should show, dealt from the seed anew."""
    game = Game(record.header["game"], record.rules, seed=record.header["seed"])
    for number, line in enumerate(record.rounds):
        if number:
            game.next_round()
        for i, move in enumerate(line["moves"]):
            yield expected(game, i, move)
            game.push(move)
        yield expected(game, len(line["moves"]), None)


@pytest.mark.parametrize("rules", [EIGHT, FEET], ids=["mexican_train", "chicken_foot"])
def test_every_position_is_the_records(rules: Rules, browser: Any, tmp_path: Path) -> None:
    record = played(rules)
    open_page(browser, tmp_path, record)
    found = browser.execute_script(WALK)
    assert len(found) == record.num_moves + len(rules.rounds)
    for shown, wanted in zip(found, positions(record), strict=True):
        said, listed = shown.pop("now"), shown.pop("listed")
        assert shown == wanted
        if wanted["move"]:
            move = record.rounds[wanted["round"]]["moves"][wanted["move"] - 1]
            assert move in listed
            assert move.split("@")[0] in said  # 'draw' in 'draws'
        assert f"seat {wanted['mover'][0]}" in said.lower() if wanted["mover"] else "over" in said


def test_going_back_and_jumping_show_the_same_positions(browser: Any, tmp_path: Path) -> None:
    record = played(make_rules("mexican_train", SMALL), names=HOSTILE)
    open_page(browser, tmp_path, record)
    forth = browser.execute_script(WALK)
    back = browser.execute_script(WALK.replace('do="next"', 'do="back"'))
    assert back[::-1] == forth
    rng = random.Random(0)
    for wanted in rng.sample(forth, 20):
        jump = f"""
        const set = (id, value, event) => {{
          const one = document.getElementById(id); one.value = value;
          one.dispatchEvent(new Event(event));
        }};
        set("round", {wanted["round"]}, "change"); set("move", {wanted["move"]}, "input");
        return read();"""
        assert browser.execute_script(READ + jump) == wanted
        click = f"document.querySelector('#moves [data-move=\"{wanted['move']}\"]').click();"
        assert browser.execute_script(READ + click + "return read();") == wanted


# ------------------------------------------------------------------------------- moving about


def place(browser: Any) -> tuple[int, int]:
    body = "const b = document.body.dataset; return [Number(b.round), Number(b.move)];"
    return tuple(browser.execute_script(body))


def press(browser: Any, *keys: str) -> tuple[int, int]:
    """Press keys one after another; return where the page stands then."""
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()
    return place(browser)


def test_the_keyboard_goes_everywhere(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    record = played(make_rules("mexican_train", SMALL))
    lengths = [len(line["moves"]) for line in record.rounds]
    open_page(browser, tmp_path, record)
    assert place(browser) == (0, 0)
    assert press(browser, Keys.ARROW_LEFT) == (0, 0)
    assert press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT) == (0, 2)
    assert press(browser, Keys.ARROW_LEFT) == (0, 1)
    assert press(browser, Keys.PAGE_DOWN) == (1, 0)
    assert press(browser, Keys.PAGE_DOWN) == (1, 0)
    assert press(browser, Keys.ARROW_LEFT) == (0, lengths[0])
    assert press(browser, Keys.PAGE_UP) == (0, 0)
    assert press(browser, Keys.END) == (1, lengths[1])
    assert press(browser, Keys.ARROW_RIGHT) == (1, lengths[1])
    assert press(browser, Keys.HOME) == (0, 0)


def test_it_plays_by_itself_until_told_to_pause(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import Select, WebDriverWait

    open_page(browser, tmp_path, played(make_rules("mexican_train", SMALL)))
    Select(browser.find_element("id", "speed")).select_by_value("200")
    button = browser.find_element("css selector", '[data-do="play"]')
    live = browser.find_element("id", "now")
    button.click()
    assert (button.text, live.get_attribute("aria-live")) == ("Pause", "off")
    WebDriverWait(browser, 60).until(lambda _: place(browser) >= (0, 3))
    button.click()
    stands = place(browser)
    assert (button.text, live.get_attribute("aria-live")) == ("Play", "polite")
    browser.execute_async_script("setTimeout(arguments[0], 700);")
    assert place(browser) == stands


def found_by(browser: Any, key: str, number: int) -> list[tuple[int, int]]:
    return [press(browser, key) for _ in range(number)]


def test_jumps_find_what_the_record_holds(browser: Any, tmp_path: Path) -> None:
    rules = make_rules("chicken_foot", players=3, max_pip=6, hand_size=6, rounds=[6, 5, 4, 3])
    record = played(rules, seed=5, advice=chances)
    moves = [
        (r, m, move)
        for r, line in enumerate(record.rounds)
        for m, move in enumerate(line["moves"], 1)
    ]
    doubles = [(r, m) for r, m, move in moves if move[0] == move[2:3]]
    blocked = [(r, m) for r, m in ends(record) if is_blocked(record, r)]
    wrong = [
        (r, m)
        for r, m, move in moves
        if (note := record.rounds[r]["annotations"][m - 1])
        and note["probability"][move] < max(note["probability"].values()) / 10
    ]
    assert min(map(len, (doubles, blocked, wrong))) > 0
    open_page(browser, tmp_path, record)
    for key, wanted in (("d", doubles), ("b", blocked), ("m", wrong)):
        press(browser, "\ue011")  # Home
        assert found_by(browser, key, len(wanted)) == wanted
        assert press(browser, key) == wanted[-1]  # there is no further one, and it says so
        assert "There is no" in browser.find_element("id", "now").text
        assert found_by(browser, key.upper(), len(wanted) - 1) == wanted[:-1][::-1]
    said = browser.find_element("css selector", '[data-find="mistake"]').text
    assert said == f"Next mistake ({len(wrong)})"


def ends(record: Record) -> list[tuple[int, int]]:
    return [(r, len(line["moves"])) for r, line in enumerate(record.rounds)]


def is_blocked(record: Record, index: int) -> bool:
    game = Game(record.header["game"], record.rules, seed=record.header["seed"], round=index)
    for move in record.rounds[index]["moves"]:
        game.push(move)
    return all(game.position()["hands"])


def test_numbers_of_agents_stand_beside_their_moves(browser: Any, tmp_path: Path) -> None:
    record = played(make_rules("chicken_foot", {**SMALL, "centre_arms": 2}), advice=chances)
    policy = record.rounds[0]["annotations"]
    number = next(i for i, note in enumerate(policy) if note)
    open_page(browser, tmp_path, record)
    press(browser, *["\ue014"] * number)  # to the right
    read = """return [...document.querySelectorAll("#legal [data-legal]")].map((row) =>
      [row, ...row.querySelectorAll("[data-kind]")].map((one) =>
        one.dataset.legal || one.textContent))"""
    rows = browser.execute_script(read)
    likely, scores = policy[number]["probability"], policy[number]["score"]
    assert [row[0] for row in rows] == sorted(likely, key=lambda move: -likely[move])
    for move, chance, score in rows:
        assert chance == f"{likely[move]:.3f}"
        assert score == ("–" if move not in scores else for_people(policy[number])["score"][move])


# ---------------------------------------------------------------------------------- for everybody


class Names(HTMLParser):
    """Collects what could ask for anything beyond the page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for key, value in attrs if key in ("src", "href", "action")]


def test_the_page_asks_for_nothing(browser: Any, tmp_path: Path) -> None:
    record = played(make_rules("mexican_train", SMALL))
    parser = Names()
    parser.feed(page(record))
    assert parser.links
    assert all(link.startswith(("#", "data:")) for link in parser.links)
    open_page(browser, tmp_path, record)
    entries = "return performance.getEntriesByType('resource').map((one) => one.name)"
    assert [name for name in browser.execute_script(entries) if not name.startswith("data:")] == []
    refused = (
        "fetch('https://example.org').then(() => arguments[0](false), () => arguments[0](true))"
    )
    assert browser.execute_async_script(refused)
    log = browser.get_log("browser")  # the refusal stands there, and nothing else
    assert all("Content Security Policy" in entry["message"] for entry in log)


def test_names_are_text_whatever_they_say(browser: Any, tmp_path: Path) -> None:
    record = played(make_rules("mexican_train", SMALL), names=HOSTILE)
    open_page(browser, tmp_path, record)
    assert browser.title == f"Mexican Train: {', '.join(HOSTILE)}"
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#seats b')].map((b) => b.textContent)"
    )
    assert [text.removeprefix("▸ ") for text in shown] == [
        f"{i} {n}" for i, n in enumerate(HOSTILE)
    ]
    assert browser.execute_script("return document.images.length") == 0


def test_names_are_shown_on_one_line_and_not_too_long(browser: Any, tmp_path: Path) -> None:
    """No mark turns the page's direction, and no name pushes the table out of sight."""
    names = ["two\nlines", "\u202eturned", "long " * 2000]
    record = played(make_rules("mexican_train", SMALL), names=names)
    open_page(browser, tmp_path, record)
    shown = [r"two\nlines", r"\u202eturned", f"{'long ' * 11}long…"]
    assert browser.title == f"Mexican Train: {', '.join(shown)}"
    text = browser.find_element("tag name", "body").get_attribute("innerText")
    assert "\u202e" not in text and "\u202e" not in page(record)
    assert len(page(record)) < len(page(played(record.rules))) + 1000
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0


def test_screen_readers_get_a_name_for_everything(browser: Any, tmp_path: Path) -> None:
    open_page(browser, tmp_path, played(make_rules("mexican_train", SMALL), advice=chances))
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    nodes = [
        (one["role"]["value"], one.get("name", {}).get("value", ""))
        for one in tree
        if "role" in one
    ]
    roles = {role for role, _ in nodes}
    assert {"button", "combobox", "slider", "heading", "image", "list", "table", "main"} <= roles
    wanted = ("button", "combobox", "slider", "image", "region")
    assert [node for node in nodes if node[0] in wanted and not node[1].strip()] == []
    assert ("slider", "Move") in nodes


def test_focus_goes_through_the_page_in_its_order(browser: Any, tmp_path: Path) -> None:
    open_page(browser, tmp_path, played(make_rules("mexican_train", SMALL)))
    focused = "const a = document.activeElement; return a.id || a.dataset.do || a.tagName"
    seen = []
    for _ in range(9):
        press(browser, "\ue004")  # Tab
        seen.append(browser.execute_script(focused))
    assert seen == ["theme", "first", "back", "play", "next", "last", "speed", "round", "move"]


def test_light_and_dark_follow_the_system_and_the_button(browser: Any, tmp_path: Path) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    colours = {}
    for theme in ("light", "dark"):
        feature = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        open_page(browser, tmp_path, played(make_rules("mexican_train", SMALL)))
        colours[theme] = browser.execute_script(ground)
    assert colours["light"] != colours["dark"]
    button = browser.find_element("id", "theme")
    assert button.text == "Light"
    button.click()
    assert browser.execute_script(ground) == colours["light"]
    assert button.text == "Dark"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_hands_can_be_hidden(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import Select

    open_page(browser, tmp_path, played(make_rules("mexican_train", SMALL)))
    Select(browser.find_element("id", "hands")).select_by_value("1")
    hands = browser.find_elements("css selector", "#seats .hand")
    hidden = [len(hand.find_elements("css selector", ".down")) for hand in hands]
    assert hidden == [4, 0, 4]


# ------------------------------------------------------------------------------ without a browser


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_changes_lead_from_each_position_to_the_next(seed: int) -> None:
    game = random.Random(seed).choice(["mexican_train", "chicken_foot"])
    rules = make_rules(game, {**SMALL, **({"centre_arms": 2} if game == "chicken_foot" else {})})
    record = played(rules, seed)
    positions: list[dict[str, Any]] = []
    frames = Frames()

    def follow(game: MatchPlay) -> None:
        frames(game)
        positions.append(game.position())

    verify_record(record, follow=follow)
    expected = iter(positions)
    for one, line in zip(frames.data(record)["rounds"], record.rounds, strict=True):
        now = copy.deepcopy(one["start"])
        before = next(expected)
        for step, move in zip(one["steps"], line["moves"], strict=True):
            assert (step["seat"], step["move"]) == (before["to_move"], move)
            for kind, path, *rest in step["changes"]:
                apply(now, kind, path, *rest)
            before = next(expected)
            assert {key: now.get(key) for key in SHOWN} == {key: before.get(key) for key in SHOWN}
            assert now["marked"] == [str(seat) for seat in before.get("markers", [])]
            assert len(now["waiting"]) == len(before.get("pending", now["waiting"]))
        assert now["scores"] == line["scores"]


def apply(target: Any, kind: str, path: list[Any], value: Any = None) -> None:
    for key in path[:-1]:
        target = target[key]
    if kind == "=":
        target[path[-1]] = copy.deepcopy(value)
    elif kind == "-":
        del target[path[-1]]
    else:
        del target[path[-1]][value]


VALUES = st.recursive(
    st.integers(0, 3) | st.text("ab", max_size=1),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=9,
)
OBJECTS = st.dictionaries(st.sampled_from("xyz"), VALUES)


@given(OBJECTS, OBJECTS)
def test_changes_make_any_object_of_any_other(before: Any, after: Any) -> None:
    made = copy.deepcopy(before)
    for one in changes(before, after):
        apply(made, *json.loads(json.dumps(one)))
    assert made == after


def test_mistakes_are_what_the_record_calls_so() -> None:
    chance = {"probability": {"a": 0.9, "b": 0.08, "c": 0.02}}
    said = [("a", chance), ("b", chance), ("c", chance), ("d", chance), ("x", None)]
    flags = mistakes([(0, move) for move, _ in said], [note for _, note in said])
    assert flags == [False, True, True, True, False]
    close, wide = {"score": {"a": 1.0, "b": 0.9}}, {"score": {"a": 10.0, "b": 0.0, "c": 6.0}}
    said = [("b", close), ("b", wide), ("c", wide), ("a", wide), ("d", wide)]
    flags = mistakes([(0, move) for move, _ in said], [note for _, note in said])
    assert flags == [False, True, False, False, False]  # the usual stake is 10 points
    others = mistakes([(0, "b"), (1, "b")], [close, wide])  # every seat has its own
    assert others == [True, True]
    assert mistakes([], []) == []


def test_scores_of_a_match_stand_in_the_table() -> None:
    record = played(FEET, names=["<b>", "Ada", "Ben", "Cleo"])
    chart = score_chart(record)
    assert "<b>Ada" not in chart
    assert "&lt;b&gt;" in chart
    cells = re.findall(r"<td>(-?\d+) <small>\(([+-]\d+)\)</small></td>", chart)
    wanted = [
        (str(total), f"{cost:+d}")
        for line in record.rounds
        for total, cost in zip(line["scores"], line["penalties"], strict=True)
    ]
    assert cells == wanted
    assert chart.count("<polyline") == 4
    assert "nan" not in chart


def test_a_page_is_made_of_whatever_is_a_record() -> None:
    whole = played(make_rules("mexican_train", SMALL))
    header = {key: value for key, value in whole.header.items() if key != "match"}
    assert '"round":1' in page(Record({**header, "seed": None}, whole.rounds, whole.result))
    assert '"round":1' not in page(Record(header, whole.rounds[:1], None))
    game = Game("chicken_foot", {**SMALL, "centre_arms": 2}, seed=4, round=1)
    while not game.round_over:
        game.push(game.legal_moves()[0])
    assert '"round":1' in page(game.record(episode="round"))
    with pytest.raises(RecordError, match="no finished round"):
        page(Record(header, [], None))
    whole.rounds[0]["moves"][0] = "pass"
    with pytest.raises(RecordError, match="move 1: 'pass'"):
        page(whole)


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matches, out = tmp_path / "m.jsonl", tmp_path / "m.html"
    records = [played(make_rules("mexican_train", SMALL), seed) for seed in (1, 2)]
    write_record(matches, records)
    assert main(["replay", str(matches), "--html", str(out)]) == OK
    assert out.read_text("utf-8") == page(records[0])
    assert capsys.readouterr().out == f"{out}: rounds 2, moves {records[0].num_moves}\n"
    assert main(["replay", str(matches), "--html", str(out), "--which", "2"]) == OK
    assert out.read_text("utf-8") == page(records[1])
    for which in ("3", "0", "-1"):
        assert main(["replay", str(matches), "--html", str(out), "--which", which]) == INVALID
    assert "holds 2 matches; no match 3 (--which)" in capsys.readouterr().err
    before = matches.read_bytes()
    (tmp_path / "link").symlink_to(matches)
    for same in (matches, tmp_path / "link", tmp_path / "." / "m.jsonl"):
        assert main(["replay", str(matches), "--html", str(same)]) == WRONG_USE
        assert "is the record itself" in capsys.readouterr().err
    assert matches.read_bytes() == before
    assert main(["replay", str(tmp_path / "no.jsonl"), "--html", str(out)]) == WRONG_USE
    assert main(["replay", str(matches), "--html", str(tmp_path)]) == WRONG_USE
    write_record(matches, Record(records[0].header, records[0].rounds[:1], None))
    assert main(["replay", str(matches), "--html", str(out)]) == INVALID
    assert main(["replay", str(matches), "--html", str(out), "--partial"]) == OK
