// A tournament as it goes on: what the server sends whenever the folder changes.

const element = (id) => document.getElementById(id);

function made(name, text = "", className = "") {
  const one = document.createElement(name);
  one.textContent = text;
  if (className) one.className = className;
  return one;
}

// Columns: [heading, value of a row (a text or an element), is it a number].
function table(columns, rows) {
  const found = document.createElement("table");
  const head = found.createTHead().insertRow();
  for (const [heading, , isNumber] of columns) {
    const cell = made("th", heading, isNumber ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  }
  const body = found.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, value, isNumber] of columns) {
      const cell = line.insertCell();
      if (isNumber) cell.className = "number";
      cell.append(value(row));
    }
  }
  return found;
}

const grouped = (number) => (number ?? "–").toLocaleString("en");

function bar(run) {
  const found = document.createElement("progress");
  found.max = run.count;
  found.value = run.done;
  found.setAttribute("aria-label", `${run.done} of ${run.count} puzzles`);
  return found;
}

const RUNS = [
  ["Bot", (run) => run.bot],
  ["Set", (run) => run.set],
  ["", bar],
  ["Puzzles", (run) => `${grouped(run.done)} of ${grouped(run.count)}`, true],
  ["Right", (run) => grouped(run.right), true],
  ["Time", (run) => run.time, true],
  ["", (run) => (run.running ? "" : "interrupted")],
];

const RANKING = [
  ["", (row) => String(row.rank), true],
  ["Bot", (row) => row.bot],
  ["Right", (row) => (row.count ? `${grouped(row.right)} of ${grouped(row.count)}` : grouped(row.right)), true],
  ["Time", (row) => row.time, true],
  ["Median", (row) => row.median, true],
  ["Slowest", (row) => (row.slowest_puzzle ? `${row.slowest} ($${row.slowest_puzzle})` : row.slowest), true],
  ["End", (row) => row.ends.join(", ")],
];

const LAST = [
  ["Bot", (one) => one.bot],
  ["Set", (one) => one.set],
  ["Puzzle", (one) => `$${one.number}`, true],
  ["Verdict", (one) => made("span", one.verdict, `verdict-${one.verdict}`)],
  ["Time", (one) => one.time, true],
];

function fill(id, isThere, ...content) {
  element(id).hidden = !isThere;
  if (isThere) element(id).lastElementChild.replaceChildren(...content);
}

function ranking(one) {
  const card = made("section", "", "card");
  const scrolls = made("div", "", "scrolls");
  scrolls.append(table(RANKING, one.rows));
  card.append(made("h2", one.title), scrolls);
  for (const note of [...one.notes, ...one.warnings]) card.append(made("p", note, "quiet"));
  return card;
}

function plot(one, at, version) {
  const figure = document.createElement("figure");
  const image = document.createElement("img");
  image.src = `/api/cactus/${at}?version=${version}`;
  image.alt = one.words;
  image.width = 440;
  image.height = 380;
  const legend = made("ul", "", "legend");
  for (const [name, light, dark] of one.series) {
    const item = made("li", name);
    item.style.setProperty("--light", light);
    item.style.setProperty("--dark", dark);
    legend.append(item);
  }
  figure.append(made("figcaption", one.title, "quiet"), image, legend);
  return figure;
}

function show(state) {
  const runs = state.under_way.filter((run) => run.running).length;
  const isEmpty = !state.rankings.length && !state.under_way.length;
  element("state").textContent = isEmpty
    ? `Nothing in ${state.folder} yet.`
    : `${state.folder} · ${runs ? `${runs} under way` : "nothing under way"} · as of ${new Date().toLocaleTimeString("en-GB")}`;
  fill("under-way", state.under_way.length, table(RUNS, state.under_way));
  element("rankings").replaceChildren(...state.rankings.map(ranking));
  fill("plots", state.plots.length, ...state.plots.map((one, at) => plot(one, at, state.version)));
  fill("last", state.last.length, table(LAST, state.last));
  fill("problems", state.problems.length, ...state.problems.map((problem) => made("p", problem, "quiet")));
  document.documentElement.dataset.version = state.version;
}

const source = new EventSource("/api/live");
source.onmessage = (event) => show(JSON.parse(event.data));
source.onerror = () => (element("state").textContent = "The server does not answer; it is asked again.");
addEventListener("pagehide", () => source.close());
