// The page of the live view: shows what the server sends whenever the folder changes.

import { element, made } from "./elements.js";

// Columns: [heading, value of a row (a text, an element or several), its class].
function table(columns, rows) {
  const found = made("table");
  const head = found.createTHead().insertRow();
  for (const [heading, , className] of columns) {
    head.append(Object.assign(made("th", heading, className), { scope: "col" }));
  }
  const body = found.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, value, className] of columns) {
      const cell = line.appendChild(made("td", "", className));
      cell.append(...[value(row)].flat());
    }
  }
  return found;
}

const grouped = (number) => (number ?? "–").toLocaleString("en");

function progress(run) {
  const bar = Object.assign(made("progress"), { max: run.count, value: run.done });
  bar.ariaHidden = "true"; // its text says the same
  return [bar, made("span", `${grouped(run.done)} of ${grouped(run.count)}`, "whole")];
}

const badge = (kind, name, text = name) => made("span", text, `badge ${kind}-${name.replaceAll(" ", "-")}`);
const ends = (names) => names.map((name) => badge("end", name));

const notRight = ({ not_right: counts }) =>
  Object.entries(counts).map(([name, count]) => badge("verdict", name, `${grouped(count)} ${name}`));

// The tournament of a row, where there are several.
const TOURNAMENT = ["Tournament", (row) => row.tournament, "wraps cut"];
const of = (state, columns) => (state.tournaments.length > 1 ? [...columns, TOURNAMENT] : columns);

const RUNS = [
  ["Bot", (run) => run.bot, "wraps"],
  ["Progress", (run) => [...progress(run), ...ends(run.silent ? ["judge does not answer"] : run.running ? [] : ["interrupted"])], "wraps"],
  ["Right", (run) => grouped(run.right), "number"],
  ["Not right", notRight, "wraps badges"],
  ["Time", (run) => run.time, "number"],
  ["Set", (run) => run.set, "wraps"],
];

const OWN_TIME = ["Own time", (row) => row.own, "number"];

const RANKING = [
  ["Rank", (row) => String(row.rank), "number"],
  ["Bot", (row) => (row.version ? [`${row.bot} `, made("span", `(${row.version})`, "whole")] : row.bot), "wraps name"],
  ["Right", (row) => (row.count ? `${grouped(row.right)} of ${grouped(row.count)}` : grouped(row.right)), "number"],
  ["Time", (row) => row.time, "number"],
  OWN_TIME,
  ["End", (row) => ends(row.ends)],
  ["Not right", notRight, "wraps badges"],
  ["Median", (row) => row.median, "number"],
  ["Slowest", (row) => (row.slowest_puzzle ? `${row.slowest} (${row.slowest_puzzle})` : row.slowest), "number"],
];

// The columns of a match: points, and each bot against each other one.
function ofMatch(rows) {
  const against = (name) => [`vs ${name}`, (row) => row.pairings.find(([opponent]) => opponent === name)?.[1] ?? "", "number wraps"];
  const points = [["Points", (row) => grouped(row.points), "number"], ["Solved", (row) => grouped(row.solved), "number"]];
  return [...RANKING.slice(0, 2), ...points, ...rows.map((row) => against(row.bot)), ...RANKING.slice(3, 6)];
}

const LAST = [
  ["Puzzle", (puzzle) => `$${puzzle.number}`, "number"],
  ["Verdict", (puzzle) => badge("verdict", puzzle.verdict)],
  ["Time", (puzzle) => puzzle.time, "number"],
  ["Bot", (puzzle) => puzzle.bot, "wraps cut"],
  ["Set", (puzzle) => puzzle.set, "wraps cut"],
];

// Makes an element what another is, and touches nothing else of it: who scrolls, selects or has the focus there stays.
function renew(old, now) {
  if (old.isEqualNode(now)) return;
  if (old.nodeType !== Node.ELEMENT_NODE || !old.cloneNode(false).isEqualNode(now.cloneNode(false))) return old.replaceWith(now);
  const children = [...now.childNodes];
  while (old.childNodes.length > children.length) old.lastChild.remove();
  for (const [index, child] of children.entries()) {
    if (old.childNodes[index]) renew(old.childNodes[index], child);
    else old.append(child);
  }
}

function refill(old, ...content) {
  const now = old.cloneNode(false);
  now.append(...content);
  renew(old, now);
}

function fill(id, isThere, ...content) {
  element(id).hidden = !isThere;
  if (isThere) refill(element(id).lastElementChild, ...content);
}

function ranking(standing, heading, tournament = "") {
  const card = made("div", "", "card");
  const title = made(heading, standing.title);
  const scrolls = made("div", "", "scrolls");
  scrolls.tabIndex = 0;
  scrolls.role = "region";
  scrolls.setAttribute("aria-label", tournament ? `${tournament}: ${standing.title}` : standing.title); // unique among all
  const columns = standing.rows.some((row) => row.points !== null) ? ofMatch(standing.rows) : RANKING;
  scrolls.append(table(standing.rows.some((row) => row.own) ? columns : columns.filter((column) => column !== OWN_TIME), standing.rows));
  card.append(title, ...(standing.rows.length ? [scrolls] : []));
  for (const note of standing.notes) card.append(made("p", note, "quiet"));
  for (const warning of standing.warnings) card.append(made("p", `warning: ${warning}`, "warning"));
  return card;
}

// The rankings, those of each tournament below its name where there are several.
function standings({ tournaments, rankings }) {
  if (tournaments.length < 2) return rankings.map((standing) => ranking(standing, "h2"));
  return tournaments.flatMap((name) => {
    const own = rankings.filter(({ tournament }) => tournament === name);
    return own.length ? [made("h2", name, "tournament"), ...own.map((standing) => ranking(standing, "h3", name))] : [];
  });
}

function figure(plot) {
  const found = made("figure");
  const image = Object.assign(new Image(440, 380), { src: `/api/cactus/${plot.key}`, alt: plot.words });
  const legend = made("ul", "", "legend");
  for (const [name, light, dark] of plot.series) {
    const item = made("li", name);
    item.style.setProperty("--light", light);
    item.style.setProperty("--dark", dark);
    legend.append(item);
  }
  found.append(made("figcaption", plot.caption, "quiet"), image, legend);
  return found;
}

let figures = new Map();

// A plot that has not changed is not asked for again.
function showPlots({ tournaments, plots: every }) {
  const isOneOf = tournaments.length > 1;
  const plots = every.map((plot) => ({ ...plot, caption: isOneOf ? `${plot.tournament} · ${plot.title}` : plot.title }));
  const now = new Map(plots.map((plot) => [JSON.stringify(plot), plot]));
  for (const [key, plot] of now) now.set(key, figures.get(key) ?? figure(plot));
  const isSame = [...now.keys()].join() === [...figures.keys()].join();
  figures = now;
  element("plots").hidden = !plots.length;
  if (!isSame) element("plots").lastElementChild.replaceChildren(...now.values());
}

function say(text, asOf = "") {
  if (element("state").textContent !== text) element("state").textContent = text; // it is read out
  element("as-of").textContent = asOf;
}

// Between two runs of a tournament, nothing is under way, and it goes on all the same.
function activity(runningCount, { playing, tournaments }) {
  const underWay = runningCount ? `${runningCount} under way` : playing.some(({ running }) => running) ? "" : "nothing under way";
  const played = playing.map(({ tournament, played, count }) => {
    const name = tournaments.length > 1 ? `${tournament}: ` : "";
    return `${name}${grouped(played)} of ${grouped(count)} runs played`;
  });
  return [underWay, ...played].filter(Boolean).join(" · ");
}

function show(state) {
  const running = state.under_way.filter((run) => run.running);
  const interrupted = state.under_way.filter((run) => !run.running);
  const isEmpty = !state.rankings.length && !state.under_way.length && !state.playing.length;
  if (isEmpty) say(`Nothing in ${state.folder} yet.`);
  else say(`${state.folder} · ${activity(running.length, state)}`, `· as of ${new Date().toLocaleTimeString("en-GB")}`);
  fill("under-way", running.length, table(of(state, RUNS), running));
  fill("interrupted", interrupted.length, table(of(state, RUNS), interrupted));
  refill(element("rankings"), ...standings(state));
  showPlots(state);
  fill("last", state.last.length, table(of(state, LAST), state.last));
  element("puzzle-page").hidden = Boolean(state.note);
  element("note").hidden = !state.note;
  element("note").textContent = state.note;
  fill("problems", state.problems.length, ...state.problems.map((problem) => made("p", problem, "quiet")));
}

// --- watching: one connection, and only while somebody sees the page, as a browser has few for a server ------------

const REFUSED_MS = 10_000;
let source = null;
let timer = 0;

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
}

function open() {
  close();
  if (document.hidden) return;
  source = new EventSource("/api/live");
  source.onmessage = (event) => show(JSON.parse(event.data));
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return say("The server does not answer; it is asked again.");
    timer = setTimeout(open, REFUSED_MS); // a browser does not ask again where it was refused
    sayWhy();
  };
}

// An EventSource does not tell what the server has answered.
async function sayWhy() {
  const own = source; // another one may be open when the answer comes
  const asking = new AbortController();
  try {
    const response = await fetch("/api/live", { signal: asking.signal });
    if (response.ok) return;
    const { error } = await response.json();
    if (own === source) say(`${error}; it is asked again.`);
  } catch {
    if (own === source) say("The server does not answer; it is asked again.");
  } finally {
    asking.abort();
  }
}

document.addEventListener("visibilitychange", open);
addEventListener("pagehide", close);
addEventListener("pageshow", (event) => event.persisted && open());
open();
