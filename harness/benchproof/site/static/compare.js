"use strict";
// Two commits side by side: every series that was measured at both.
(() => {
  const { catalogue, choice, keep, element, figure, ratio, percent, day, trouble, commitLink, finder, commitsAt, valuesAt } = window.benchproof;
  const NAMES = { python: "pure", cython: "Cython", "": "measured" };
  const ROWS = 200;
  const at = (id) => document.getElementById(id);
  const controls = at("controls");
  let state = null;
  let most = ROWS;

  // A hash, or words that a commit's subject holds; of several, the newest.
  const resolve = (text, { find, count }, commitAt) => {
    const place = find(text);
    if (place !== undefined) return place;
    const words = text.toLowerCase().trim();
    for (let each = count - 1; each >= 0 && words; each -= 1) {
      const { hash, subject } = commitAt(each);
      if (hash.startsWith(words) || `${hash.slice(0, 10)} ${subject}`.toLowerCase().includes(words)) return each;
    }
    throw new Error(text ? `There is no commit ${text}.` : "Choose two commits.");
  };

  const rowsOf = (book, left, right) => {
    const rows = [];
    for (const [name, groups] of Object.entries(book.benchmarks)) {
      for (const [meter, machine, id] of groups) {
        for (const impl of Object.keys(NAMES)) {
          const [one, other] = [left[impl]?.get(id), right[impl]?.get(id)];
          if (!one && !other) continue;
          const both = one && other;
          const value = both && one.value > 0 ? other.value / one.value : both && one.value === other.value ? 1 : null;
          const limit = book.meters[meter].limit;
          const apart = both && (other.low > one.high || other.high < one.low);
          const moved = apart && value != null && Math.abs(Math.log(value || 1e-9)) > Math.log1p(limit);
          rows.push({ name, meter, machine, impl, one, other, value, moved });
        }
      }
    }
    return rows;
  };

  const cell = (meter, side) => {
    if (!side) return [element("span", { class: "fine" }, "not measured")];
    const format = figure(meter);
    return [format(side.value, 4), side.low < side.high ? element("span", { class: "fine" }, `${format(side.low)} to ${format(side.high)}`) : ""];
  };
  const verdict = (row) => {
    if (row.value == null) return [element("span", { class: "fine" }, row.one && row.other ? "no ratio: zero before" : "")];
    const look = row.moved ? (row.value > 1 ? "regressed" : "improved") : "equivalent";
    const sign = row.moved ? (row.value > 1 ? "▲ " : "▼ ") : "";
    return [element("span", { class: `look ${look}` }, `${sign}${ratio(row.value)}`), element("span", { class: "fine" }, percent(row.value))];
  };

  const show = () => {
    const { rows, book, machines } = state;
    const impl = controls.impl.value, meter = controls.meter.value;
    const size = (row) => (row.value == null || row.value <= 0 ? -1 : Math.abs(Math.log(row.value)));
    const chosen = rows.filter((row) => (impl === "all" || row.impl === impl) && (meter === "all" || row.meter === meter)
      && (!controls.moved.checked || row.moved));
    if (controls.order.value === "size") chosen.sort((one, other) => other.moved - one.moved || size(other) - size(one));
    const both = chosen.filter((row) => row.one && row.other);
    const worse = both.filter((row) => row.moved && row.value > 1).length;
    const better = both.filter((row) => row.moved && row.value < 1).length;
    at("summary").textContent = `${both.length} values at both commits: ${worse} cost more, ${better} cost less, ${both.length - worse - better} did not move beyond their interval and limit.`
      + (chosen.length > both.length ? ` ${chosen.length - both.length} were measured at one of them only.` : "");
    at("table").hidden = !chosen.length;
    at("more").hidden = chosen.length <= most;
    at("table").querySelector("tbody").replaceChildren(...chosen.slice(0, most).map((row) => element("tr", {},
      element("th", { scope: "row" }, element("a", {
        href: `benchmark.html#${new URLSearchParams({ name: row.name, meter: row.meter, machine: row.machine, at: state.right.hash.slice(0, 10) })}`,
      }, ...row.name.split(/(?<=[._])/).flatMap((part) => [part, element("wbr")])), machines > 1 ? element("span", { class: "fine" }, row.machine) : ""),
      element("td", { "data-label": "meter" }, `${book.meters[row.meter].label}, ${NAMES[row.impl]}`),
      element("td", { "data-label": "before" }, ...cell(row.meter, row.one)),
      element("td", { "data-label": "after" }, ...cell(row.meter, row.other)),
      element("td", { "data-label": "after ÷ before" }, ...verdict(row)))));
  };

  const options = (select, names, asked) => select.replaceChildren(
    ...[["all", "all"], ...names].map(([value, text]) => element("option", { value, selected: value === asked }, text)));

  const card = (word, commit) => element("section", { class: "card undecided" },
    element("h2", {}, word), element("p", {}, commitLink(commit.hash), ` ${commit.subject}`), element("p", { class: "fine" }, day(commit.date)));

  const compare = async () => {
    const book = await catalogue();
    const places = await finder();
    if (places.count < 1) throw new Error("There is no commit yet.");
    const commitAt = await commitsAt(book.commits.files.map((file, chunk) => chunk * book.commits.chunk));
    const asked = choice();
    const newest = book.measured;
    const right = resolve(asked.get("right") || places.short(newest.at(-1) ?? 0), places, commitAt);
    const left = resolve(asked.get("left") || places.short(newest.filter((place) => place < right).at(-1) ?? 0), places, commitAt);
    const [one, other] = await Promise.all([valuesAt(left), valuesAt(right)]);
    const rows = rowsOf(book, one, other);
    const groups = Object.values(book.benchmarks).flat();
    state = { book, rows, left: commitAt(left), right: commitAt(right), machines: new Set(groups.map(([, machine]) => machine)).size };
    at("trouble").hidden = true;
    controls.left.value = state.left.hash.slice(0, 10);
    controls.right.value = state.right.hash.slice(0, 10);
    options(controls.impl, Object.entries(NAMES).filter(([impl]) => rows.some((row) => row.impl === impl && impl)), asked.get("impl"));
    options(controls.meter, Object.entries(book.meters).map(([name, { label }]) => [name, label]), asked.get("meter"));
    controls.moved.checked = asked.get("moved") === "1";
    if (asked.get("order")) controls.order.value = asked.get("order");
    if (!at("commits").children.length) {
      at("commits").replaceChildren(...newest.slice(-400).reverse().map((place) => {
        const { hash, subject } = commitAt(place);
        return element("option", { value: hash.slice(0, 10) }, subject);
      }));
    }
    at("sides").replaceChildren(card("Before", state.left), card("After", state.right));
    most = ROWS;
    show();
  };
  const redraw = () => compare().catch((error) => { at("table").hidden = true; at("summary").textContent = ""; trouble(error); });
  const remember = () => keep({
    left: controls.left.value, right: controls.right.value, impl: controls.impl.value === "all" ? "" : controls.impl.value,
    meter: controls.meter.value === "all" ? "" : controls.meter.value, order: controls.order.value === "size" ? "" : controls.order.value,
    moved: controls.moved.checked ? "1" : "",
  });

  controls.addEventListener("submit", (event) => { event.preventDefault(); remember(); redraw(); });
  at("swap").addEventListener("click", () => {
    [controls.left.value, controls.right.value] = [controls.right.value, controls.left.value];
    remember();
    redraw();
  });
  for (const name of ["impl", "meter", "order", "moved"]) {
    controls[name].addEventListener("change", () => { most = ROWS; remember(); if (state) show(); });
  }
  at("more").addEventListener("click", () => { most += ROWS; show(); });
  addEventListener("hashchange", redraw);
  redraw();
})();
