// Steps through a match. For each round the page has the position after the deal and the changes of
// every move; tiles on the table have fixed places and are only shown or hidden.
"use strict";
(() => {
  const match = JSON.parse(document.getElementById("data").textContent);
  const rounds = match.rounds;
  const $ = (id) => document.getElementById(id);
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);
  const at = { round: 0, move: 0 }; // `move` moves have been made
  let position = null;
  let drawn = -1; // the round whose table and list are on the page
  let timer = 0;

  // ---------------------------------------------------------------------------- positions

  const copy = (value) => JSON.parse(JSON.stringify(value));

  function change(target, [kind, path, value]) {
    const inner = path.slice(0, -1).reduce((part, key) => part[key], target);
    const key = path[path.length - 1];
    if (kind === "=") inner[key] = copy(value);
    else if (kind === "-") delete inner[key];
    else inner[key].splice(value, 1);
  }

  function positionAt(round, move) {
    const now = copy(rounds[round].start);
    rounds[round].steps.slice(0, move).forEach((step) => step.changes.forEach((one) => change(now, one)));
    return now;
  }

  function go(round, move) {
    const isNext = round === at.round && move === at.move + 1 && position !== null;
    if (isNext) rounds[round].steps[at.move].changes.forEach((one) => change(position, one));
    else position = positionAt(round, move);
    at.round = round;
    at.move = move;
    show();
  }

  // ---------------------------------------------------------------------------- in words

  const name = (seat) => match.players[seat];
  const tileOf = (move) => (move.includes("@") ? move.split("@")[0] : "");
  const isDouble = (tile) => tile !== "" && tile.split("-")[0] === tile.split("-")[1];
  const startsWith = (round) => (round.middle ? `, from ${round.middle}` : "");
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

  function moveInWords({ seat, move, mistake }) {
    const [tile, place] = move.split("@");
    const who = `Seat ${seat} (${name(seat)})`;
    const rest = mistake ? "; a mistake by the record’s own numbers" : "";
    if (!place) return `${who} ${{ draw: "draws a tile", pass: "passes" }[move] || `${move}s`}${rest}.`;
    return `${who} plays ${tile} ${match.places[place]}${rest}.`;
  }

  function stateInWords() {
    const round = rounds[at.round];
    if (position.penalties) {
      const costs = position.penalties.map((cost, seat) => `seat ${seat} ${cost}`).join(", ");
      return `The round is over${round.blocked ? ", blocked" : ""}. It costs ${costs}.`;
    }
    const drew = position.drew ? ", has drawn" : "";
    const owes = position.owes ? `, owes ${position.owes}` : "";
    const duty = position.duty ? `; ${position.duty}` : "";
    return `Seat ${position.to_move} (${name(position.to_move)}) is to move${drew}${owes}${duty}.`;
  }

  // ---------------------------------------------------------------------------- showing

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function bone(tile) {
    const [high, low] = tile.split("-").map((pip) => element("i", {}, pip));
    const shown = element("span", { class: "bone", "data-tile": tile, role: "img", "aria-label": tile });
    shown.append(high, low);
    return shown;
  }

  function show() {
    if (drawn !== at.round) drawRound();
    const step = at.move ? rounds[at.round].steps[at.move - 1] : null;
    const begin = `Round ${at.round + 1} of ${rounds.length}${startsWith(rounds[at.round])}. `;
    const words = (step ? moveInWords(step) : begin) + " " + stateInWords();
    $("now").textContent = words;
    $("table").setAttribute("aria-label", `The table after move ${at.move} of round ${at.round + 1}`);
    showTable(step);
    showSeats();
    showLegal();
    showPlace();
  }

  function drawRound() {
    drawn = at.round;
    const round = rounds[drawn];
    $("table").innerHTML = round.svg; // written by the program itself: numbers and names of trains
    const items = round.steps.map((step, i) => moveItem(step, i + 1));
    const start = element("button", { type: "button", "data-move": 0 }, element("span", { class: "n" }, "0"), "deal");
    $("moves").replaceChildren(element("li", {}, start), ...items);
    $("move").max = round.steps.length;
  }

  function moveItem(step, number) {
    const flag = step.mistake ? "?" : isDouble(tileOf(step.move)) ? "◆" : "";
    const parts = [element("span", { class: "n" }, number), element("span", { class: "p" }, `${step.seat} ${name(step.seat)}`), step.move];
    if (flag) parts.push(element("span", { class: step.mistake ? "flag" : "", "aria-label": step.mistake ? "mistake" : "double" }, flag));
    return element("li", {}, element("button", { type: "button", "data-move": number }, ...parts));
  }

  function showTable(step) {
    const round = rounds[at.round];
    const laid = round.steps.slice(0, at.move).map((one) => tileOf(one.move)).filter(Boolean);
    const visible = new Set([round.middle, ...laid]);
    const waiting = new Set(position.waiting);
    each("#table .tile", (tile) => {
      const which = tile.dataset.tile;
      tile.toggleAttribute("hidden", !visible.has(which));
      tile.classList.toggle("last", step !== null && which === tileOf(step.move));
      tile.classList.toggle("waiting", waiting.has(which));
    });
    const marked = new Set(position.marked);
    each("#table .marker", (marker) => marker.toggleAttribute("hidden", !marked.has(marker.dataset.train)));
    const mover = position.penalties ? "" : String(position.to_move);
    each("#table .sign", (sign) => sign.classList.toggle("mover", sign.dataset.train === mover));
  }

  function showSeats() {
    const view = $("hands").value;
    const isOpen = (seat) => view === "all" || (view === "mover" ? seat === position.to_move : view === String(seat));
    const items = position.hands.map((hand, seat) => {
      const facts = `${plural(hand.length, "tile")} · ${plural(position.scores[seat], "point")}`;
      const bones = hand.map((tile) => (isOpen(seat) ? bone(tile) : element("span", { class: "bone down", role: "img", "aria-label": "face down" })));
      const isMover = seat === position.to_move && !position.penalties;
      const who = element("div", { class: "who" }, element("b", {}, `${isMover ? "▸ " : ""}${seat} ${name(seat)}`), element("span", {}, facts));
      const item = element("li", { class: `seat-${seat}${isMover ? " mover" : ""}`, "data-seat": seat, "data-score": position.scores[seat] }, who);
      item.append(element("div", { class: "hand" }, ...bones));
      return item;
    });
    $("seats").replaceChildren(...items);
    $("boneyard").textContent = `boneyard ${position.boneyard.length}`;
    $("boneyard").dataset.next = position.boneyard[0] || "";
  }

  function showLegal() {
    const step = rounds[at.round].steps[at.move];
    if (!step) {
      $("legal").replaceChildren(element("p", {}, "The round is over."));
      return;
    }
    const annotation = step.annotation || {};
    const kinds = Object.keys(annotation);
    const ranked = kinds.length ? Object.keys(annotation[kinds[0]]) : []; // best first
    const moves = [...ranked, ...step.legal.filter((move) => !ranked.includes(move))];
    const head = element("tr", {}, element("th", { scope: "col" }, "move"), ...kinds.map((kind) => element("th", { scope: "col", colspan: kind === "probability" ? 2 : 1 }, kind)));
    const rows = moves.map((move) => legalRow(move, step, annotation, kinds));
    const who = element("p", {}, `of seat ${step.seat} (${name(step.seat)}); bold: the move made`);
    const table = element("table", {}, ...(kinds.length ? [element("thead", {}, head)] : []), element("tbody", {}, ...rows));
    $("legal").replaceChildren(who, table);
  }

  function legalRow(move, step, annotation, kinds) {
    const isChosen = move === step.move;
    const row = element("tr", { "data-legal": move, class: isChosen ? "chosen" : "" }, element("th", { scope: "row" }, move + (isChosen ? " ✓" : "")));
    for (const kind of kinds) {
      const value = annotation[kind][move];
      const text = value === undefined ? (kind === "probability" ? "0.000" : "–") : kind === "probability" ? value.toFixed(3) : value;
      row.append(element("td", { "data-kind": kind }, text));
      if (kind !== "probability") continue;
      const bar = element("div", { style: `width:${100 * (value || 0)}%` });
      row.append(element("td", { class: "bar", "aria-hidden": "true" }, bar));
    }
    return row;
  }

  function showPlace() {
    const length = rounds[at.round].steps.length;
    $("round").value = at.round;
    $("move").value = at.move;
    $("move").setAttribute("aria-valuetext", `move ${at.move} of ${length}`);
    $("count").textContent = `${at.move} of ${length}`;
    document.body.dataset.round = at.round;
    document.body.dataset.move = at.move;
    each("#moves [aria-current]", (one) => one.removeAttribute("aria-current"));
    const current = document.querySelector(`#moves [data-move="${at.move}"]`);
    current.setAttribute("aria-current", "step");
    const list = $("moves"); // scrolled by itself: the page stays where it is
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
    each(".chart .column", (one) => one.classList.toggle("here", one.dataset.round === String(at.round)));
    const isFirst = at.round === 0 && at.move === 0;
    each('[data-do="first"], [data-do="back"]', (one) => one.toggleAttribute("aria-disabled", isFirst));
    each('[data-do="next"], [data-do="last"]', (one) => one.toggleAttribute("aria-disabled", isLast()));
  }

  // ---------------------------------------------------------------------------- moving about

  const isLast = () => at.round === rounds.length - 1 && at.move === rounds[at.round].steps.length;

  const acts = {
    first: () => go(0, 0),
    last: () => go(rounds.length - 1, rounds[rounds.length - 1].steps.length),
    next() {
      if (at.move < rounds[at.round].steps.length) go(at.round, at.move + 1);
      else if (at.round + 1 < rounds.length) go(at.round + 1, 0);
    },
    back() {
      if (at.move > 0) go(at.round, at.move - 1);
      else if (at.round > 0) go(at.round - 1, rounds[at.round - 1].steps.length);
    },
    play: () => (timer ? pause() : play()),
  };

  function play() {
    if (isLast()) go(0, 0);
    $("now").setAttribute("aria-live", "off"); // else every move is read out
    timer = setInterval(tick, Number($("speed").value));
    showPlaying();
  }

  function tick() {
    acts.next();
    if (isLast()) pause();
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    $("now").setAttribute("aria-live", "polite");
    showPlaying();
  }

  function showPlaying() {
    const button = document.querySelector('[data-do="play"]');
    button.textContent = timer ? "Pause" : "Play";
    button.setAttribute("aria-pressed", timer ? "true" : "false");
  }

  const kinds = {
    double: (step) => isDouble(tileOf(step.move)),
    blocked: (step, round) => round.blocked && step === round.steps[round.steps.length - 1],
    mistake: (step) => Boolean(step.mistake),
  };
  const places = {};
  for (const [kind, is] of Object.entries(kinds)) {
    places[kind] = rounds.flatMap((round, r) => round.steps.flatMap((step, i) => (is(step, round) ? [[r, i + 1]] : [])));
  }

  function find(kind, backwards) {
    const isAfter = ([r, m]) => r > at.round || (r === at.round && m > at.move);
    const isBefore = ([r, m]) => r < at.round || (r === at.round && m < at.move);
    const place = backwards ? places[kind].findLast(isBefore) : places[kind].find(isAfter);
    if (place) go(...place);
    else $("now").textContent = `There is no ${kind === "blocked" ? "blocked end" : kind} ${backwards ? "before" : "after"} this move.`;
  }

  function toRound(round) {
    if (round >= 0 && round < rounds.length) go(round, 0);
  }

  const keys = {
    ArrowRight: acts.next,
    ArrowLeft: acts.back,
    Home: acts.first,
    End: acts.last,
    PageDown: () => toRound(at.round + 1),
    PageUp: () => toRound(at.move > 0 ? at.round : at.round - 1),
    " ": acts.play,
  };
  const letters = { d: "double", b: "blocked", m: "mistake" };

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const tag = event.target.tagName;
    if (tag === "SELECT" || tag === "INPUT") return; // they have keys of their own
    if (event.key === " " && (tag === "BUTTON" || tag === "SUMMARY")) return;
    const letter = letters[event.key.toLowerCase()];
    if (letter) find(letter, event.shiftKey);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  }

  // ---------------------------------------------------------------------------- light and dark

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = theme === "dark" ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", `Change to ${theme === "dark" ? "light" : "dark"} colours`);
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));

  // ---------------------------------------------------------------------------- begin

  $("rules").textContent = match.rules;
  $("round").append(...rounds.map((round, i) => element("option", { value: i }, `${i + 1} of ${rounds.length}${startsWith(round)}`)));
  const views = [["all", "all face up"], ["mover", "of the seat to move"], ...match.players.map((one, seat) => [seat, `${seat} ${one}`])];
  $("hands").append(...views.map(([value, text]) => element("option", { value }, text)));
  for (const kind of Object.keys(kinds)) {
    const button = document.querySelector(`[data-find="${kind}"]`);
    button.disabled = places[kind].length === 0;
    button.append(` (${places[kind].length})`);
    button.addEventListener("click", (event) => find(kind, event.shiftKey));
  }
  each("[data-do]", (button) => button.addEventListener("click", acts[button.dataset.do]));
  each(".chart .column", (one) => one.addEventListener("click", () => toRound(Number(one.dataset.round))));
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("round").addEventListener("change", () => toRound(Number($("round").value)));
  $("move").addEventListener("input", () => go(at.round, Number($("move").value)));
  $("hands").addEventListener("change", showSeats);
  $("speed").addEventListener("change", () => timer && (pause(), play()));
  $("moves").addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (button) go(at.round, Number(button.dataset.move));
  });
  document.addEventListener("keydown", onKey);
  go(0, 0);
  document.documentElement.dataset.ready = performance.now().toFixed(0); // ms since the page was asked for
})();
