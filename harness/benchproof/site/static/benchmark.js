"use strict";
// The page of a benchmark: what the address asks for is loaded, drawn, and kept in the address.
(() => {
  const {
    catalogue, choice, keep, element, figure, ratio, percent, day, trouble, commitLink,
    finder, commitsAt, group, plot, gestures, readout,
  } = window.benchproof;
  const NAMES = { python: "pure", cython: "Cython", "": "measured" };
  const LOOKS = { python: "python", cython: "cython", "": "cython" };
  const at = (id) => document.getElementById(id);
  const controls = at("controls");
  let page = null; // what is drawn now
  let turn = 0; // counts drawings: one that was overtaken stops

  // What to show, from the address and what there is.
  const wish = (book) => {
    const asked = choice();
    const name = asked.get("name") || Object.keys(book.benchmarks)[0];
    const groups = (book.benchmarks[name] || []).map(([meter, machine, id, file, many]) => ({ meter, machine, id, file, many }));
    // What was measured most stands first; of two alike the exact one, which speaks first in a verdict.
    const first = (all) => [...all].sort((one, other) => other.many - one.many || (other.meter === "instructions") - (one.meter === "instructions"));
    const machines = [...new Set(first(groups).map((each) => each.machine))];
    const machine = machines.includes(asked.get("machine")) ? asked.get("machine") : machines[0];
    const here = groups.filter((each) => each.machine === machine);
    const meters = Object.keys(book.meters).filter((meter) => here.some((each) => each.meter === meter));
    const meter = meters.includes(asked.get("meter")) || asked.get("meter") === "all" ? asked.get("meter") : first(here)[0]?.meter;
    return {
      name, machine, machines, meter, meters,
      impls: (asked.get("impl") || "").split(",").filter((impl) => impl in NAMES && impl),
      log: asked.get("scale") === "log", date: asked.get("x") === "date",
      from: asked.get("from"), to: asked.get("to"), at: asked.get("at"),
      groups: here.filter((each) => meter === "all" || each.meter === meter)
        .sort((one, other) => meters.indexOf(one.meter) - meters.indexOf(other.meter)),
    };
  };
  const remember = () => {
    const { wanted } = page;
    keep({
      name: wanted.name, meter: wanted.meter, impl: wanted.impls.join(","),
      machine: wanted.machines.length > 1 ? wanted.machine : "", scale: wanted.log ? "log" : "",
      x: wanted.date ? "date" : "", from: wanted.from, to: wanted.to, at: wanted.at,
    });
  };

  // Browsers refuse an address that changes too often.
  const later = () => {
    clearTimeout(page.remembering);
    page.remembering = setTimeout(remember, 250);
  };

  // Series on common rows: a row for each commit at which any was measured.
  const align = (groups, impls) => {
    const rows = [...new Set(groups.flatMap((each) => Object.values(each.series).flatMap((one) => one.index)))]
      .sort((one, other) => one - other);
    const row = new Map(rows.map((place, n) => [place, n]));
    const spread = (index, values) => {
      const all = new Array(rows.length).fill(null);
      index.forEach((place, n) => { all[row.get(place)] = values[n]; });
      return all;
    };
    const shown = groups.map((each) => ({
      ...each,
      series: Object.fromEntries(["python", "cython", ""].filter((impl) => each.series[impl] && (impls.includes(impl) || !impls.length))
        .map((impl) => {
          const { index, value, low, high, wide } = each.series[impl];
          return [impl, {
            name: NAMES[impl], look: LOOKS[impl], wide,
            value: spread(index, value), low: spread(index, low), high: spread(index, high),
          }];
        })),
    }));
    return { rows, row, shown };
  };

  const words = (change, commit) => {
    const kind = change.kind === "platform" ? "platform changed" : change.ratio > 1 ? "costs more" : "costs less";
    return `${kind}: ${percent(change.ratio)}, ${NAMES[change.impl]}, ${commit.hash.slice(0, 10)} ${commit.subject}`;
  };
  const sign = (change) => (change.kind === "platform" ? "◆" : change.ratio == null || change.ratio > 1 ? "▲" : "▼");
  const look = (change) => (change.kind === "platform" ? "platform" : change.ratio == null || change.ratio > 1 ? "regressed" : "improved");

  const marksOf = (each, row, commitAt) => each.changes
    .filter((change) => each.series[change.impl] && row.has(change.likely))
    .map((change) => ({
      line: NAMES[change.impl], row: row.get(change.likely), sign: sign(change), look: look(change),
      words: words(change, commitAt(change.likely)),
    }));

  // Commits that share a date, or go back in time, still have an order: x never decreases.
  const dates = (rows, commitAt) => {
    let last = -Infinity;
    return rows.map((place) => {
      last = Math.max(commitAt(place).date, last + 1);
      return last;
    });
  };

  const select = (row, move = true, kept = move) => {
    if (row == null || row < 0 || row >= page.rows.length) return;
    page.selected = row;
    const commit = page.commitAt(page.rows[row]);
    const before = row > 0 ? page.commitAt(page.rows[row - 1]) : null;
    at("readout").hidden = false;
    readout(at("commit"), commit, before, row, page.shown.map((each) => ({ ...each, label: page.book.meters[each.meter].label })));
    if (kept) {
      page.wanted.at = commit.hash.slice(0, 10);
      later();
    }
    if (move) {
      const x = page.xs[row];
      const [low, high] = page.view.range();
      if (x < low || x > high) page.view.show(gestures.within([x - (high - low) / 2, x + (high - low) / 2], page.view.whole()));
      for (const u of page.plots) u.setCursor({ left: u.valToPos(x, "x"), top: u.over.clientHeight / 2 }, false);
    }
  };

  const makeView = () => {
    const whole = () => {
      const low = page.xs[0], high = page.xs.at(-1);
      return low === high ? [low - 1, high + 1] : [low, high];
    };
    const range = () => [page.plots[0].scales.x.min, page.plots[0].scales.x.max];
    const show = ([low, high]) => {
      if (!(high > low)) return;
      for (const u of page.plots) u.setScale("x", { min: low, max: high });
    };
    const focus = () => {
      const [low, high] = range();
      const x = page.selected == null ? (low + high) / 2 : page.xs[page.selected];
      return x >= low && x <= high ? (x - low) / (high - low) : 0.5;
    };
    const step = (many) => {
      const start = page.selected ?? (many > 0 ? -1 : page.rows.length);
      select(Math.min(Math.max(start + many, 0), page.rows.length - 1));
    };
    return { whole, range, show, focus, step, all: () => show(whole()), end: (side) => select(side < 0 ? 0 : page.rows.length - 1) };
  };

  // One graph moved: the others follow, and the address remembers.
  const follow = (u, low, high) => {
    if (!page || page.following || !page.plots.length) return;
    page.following = true;
    for (const other of page.plots) {
      if (other !== u && (other.scales.x.min !== low || other.scales.x.max !== high)) other.setScale("x", { min: low, max: high });
    }
    page.following = false;
    const [least, most] = page.view.whole();
    const everything = low <= least && high >= most;
    const first = page.xs.findIndex((x) => x >= low);
    const last = page.xs.findLastIndex((x) => x <= high);
    const short = (row) => page.commitAt(page.rows[row]).hash.slice(0, 10);
    page.wanted.from = everything || first < 0 ? null : short(first);
    page.wanted.to = everything || last < 0 ? null : short(last);
    later();
  };

  const handlers = {
    all: () => page.view.all(),
    cursor: (u, row) => { 
      if (!page || !page.ready || !u.cursor.event) return;
      page.hovered = row;
      if (row != null) select(row, false);
    },
    range: follow,
    mark: (mark) => select(mark.row),
  };

  const drawOne = (each, box) => {
    const { wanted, rows, row, xs, commitAt, book } = page;
    const { label } = book.meters[each.meter];
    const xTick = wanted.date
      ? (x) => day(x)
      : (x) => (Number.isInteger(x) && page.commitAt(x) ? page.short(x).slice(0, 7) : "");
    const lines = Object.entries(each.series).map(([impl, one]) => ({
      ...one, dash: impl === "python" ? [6, 3] : undefined,
      low: one.wide ? one.low : null, high: one.wide ? one.high : null,
    }));
    const legend = element("p", { class: "legend" }, ...lines.flatMap((line) => [
      element("span", { class: `swatch ${line.look}`, "aria-hidden": "true" }), `${line.name} `]));
    const told = `${label} of ${wanted.name}, ${lines.map((line) => line.name).join(" and ")}, over ${rows.length} commits`;
    const host = (words) => element("div", {
      class: "plot", tabindex: "0", role: "group", "aria-roledescription": "graph", "aria-label": words, "aria-describedby": "keys",
    });
    const main = host(told);
    box.append(element("h2", {}, `${label[0].toUpperCase()}${label.slice(1)}, a call`), legend, main);
    const add = (place, spec) => {
      const u = plot(place, { xs, rows, log: wanted.log, xTick, ...spec }, handlers);
      page.plots.push(u);
      gestures.keys(place, page.view);
      gestures.wheel(u.over, page.view);
      gestures.touch(u.over, page.view);
    };
    main.addEventListener("click", () => { if (page.hovered != null) select(page.hovered, false, true); });
    add(main, { label, lines, figure: figure(each.meter), height: wanted.meter === "all" ? 240 : 340, marks: marksOf(each, row, commitAt) });
    const { python, cython } = each.series;
    if (python && cython) {
      const value = cython.value.map((one, n) => (one != null && python.value[n] > 0 ? one / python.value[n] : null));
      const words = `Cython ÷ pure, ${label}`;
      const below = host(`${words}, of ${wanted.name}`);
      box.append(element("h3", {}, words), below);
      add(below, { label: words, lines: [{ name: words, look: "ratio", value }], figure: ratio, height: 170, space: 24 });
    }
  };

  const listChanges = () => {
    const rows = page.shown.flatMap((each) => each.changes.filter((change) => each.series[change.impl]).map((change) => ({ each, change })))
      .sort((one, other) => other.change.likely - one.change.likely);
    at("changes-here").hidden = !rows.length;
    at("changes-here").querySelector("tbody").replaceChildren(...rows.slice(0, 200).map(({ each, change }) => {
      const commit = page.commitAt(change.likely);
      const [before, after] = [change.before, change.after].map(page.short);
      return element("tr", {},
        element("th", { scope: "row" },
          element("button", { type: "button", class: `badge ${look(change)}`, onclick: () => select(page.row.get(change.likely)) }, `${sign(change)} ${percent(change.ratio)}`),
          element("span", { class: "fine" }, percent(change.low) === percent(change.high) ? "" : `${percent(change.low)} to ${percent(change.high)}`)),
        element("td", { "data-label": "of" }, `${page.book.meters[each.meter].label}, ${NAMES[change.impl]}`,
          change.kind === "platform" ? element("span", { class: "fine" }, "the platform, not the code") : ""),
        element("td", { "data-label": "commit" }, commitLink(commit.hash), ` ${commit.subject} `,
          element("span", { class: "fine" }, day(commit.date),
            change.before + 1 === change.after ? "" : `; somewhere after ${before}, up to ${after}`, " · ",
            element("a", { href: `compare.html#${new URLSearchParams({ left: before, right: after })}` }, `compare ${before} with ${after}`))));
    }));
  };

  const listPictures = () => {
    at("take").hidden = false;
    const stems = [...new Set(page.shown.map((each) => each.picture).filter(Boolean))];
    const links = stems.flatMap((stem) => [[".svg", "SVG"], ["-dark.svg", "SVG for dark grounds"], [".png", "PNG"]]
      .flatMap(([ending, words], n) => [n ? " · " : "Picture: ", element("a", { href: `site/pictures/${stem}${ending}`, download: "" }, words)]));
    at("pictures").replaceChildren(...(links.length ? links : ["For an SVG and a PNG of this benchmark, publish with ",
      element("code", {}, `benchproof publish --pictures '${page.wanted.name.replaceAll(".", "\\.")}$'`), "."]));
  };

  const fillControls = () => {
    const { wanted, book } = page;
    controls.hidden = false;
    at("help").hidden = false;
    const radios = [...wanted.meters, ...(wanted.meters.length > 1 ? ["all"] : [])].map((meter) => element("label", {},
      element("input", { type: "radio", name: "meter", value: meter, checked: meter === wanted.meter }),
      ` ${meter === "all" ? "all side by side" : book.meters[meter].label}`));
    at("meters").replaceChildren(...radios);
    const there = ["python", "cython"].filter((impl) => page.all.some((each) => each.series[impl]));
    at("impls").replaceChildren(...there.map((impl) => element("label", {},
      element("input", { type: "checkbox", name: "impl", value: impl, checked: !wanted.impls.length || wanted.impls.includes(impl) }),
      element("span", { class: `swatch ${impl}`, "aria-hidden": "true" }), NAMES[impl])));
    controls.querySelectorAll("fieldset")[1].hidden = there.length < 2;
    controls.log.checked = wanted.log;
    controls.date.checked = wanted.date;
    at("machine-choice").hidden = wanted.machines.length < 2;
    controls.machine.replaceChildren(...wanted.machines.map((name) => element("option", { value: name, selected: name === wanted.machine }, name)));
  };

  const draw = async () => {
    const mine = ++turn;
    const book = await catalogue();
    const wanted = wish(book);
    document.title = `${wanted.name || "Benchmark"} · ${document.title.split(" · ").at(-1)}`;
    at("title").replaceChildren(...(wanted.name || "No benchmark").split(/(?<=[._])/).flatMap((part) => [part, element("wbr")]));
    if (!wanted.groups.length) throw new Error(wanted.name ? `There is no benchmark ${wanted.name}.` : "There is no benchmark yet.");
    const [places, all] = await Promise.all([finder(), Promise.all(wanted.groups.map(async ({ meter, id, file }) => ({ meter, ...(await group(id, file)) })))]);
    const { rows, row, shown } = align(all, wanted.impls);
    const commitAt = await commitsAt(rows.concat(all.flatMap((each) => each.changes.flatMap((change) => [change.before, change.after]))));
    if (mine !== turn) return;
    for (const u of page?.plots || []) u.destroy();
    at("trouble").hidden = true;
    page = { book, wanted, all, shown, rows, row, commitAt, plots: [], selected: null, short: places.short };
    page.xs = wanted.date ? dates(rows, commitAt) : rows;
    page.view = makeView();
    const boxes = shown.map(() => element("figure", { class: "graph" }));
    at("plots").className = wanted.meter === "all" ? "side-by-side" : "";
    at("plots").replaceChildren(...boxes);
    fillControls();
    shown.forEach((each, n) => drawOne(each, boxes[n]));
    const [first, last] = [wanted.from, wanted.to].map((hash) => row.get(places.find(hash)));
    const chosen = row.get(places.find(wanted.at));
    queueMicrotask(() => {
      if (mine !== turn) return;
      if (first !== undefined && last !== undefined && first < last) page.view.show([page.xs[first], page.xs[last]]);
      if (chosen !== undefined) select(chosen);
      page.ready = true;
      listChanges();
      listPictures();
      at("plots").setAttribute("aria-busy", "false");
    });
  };
  const redraw = () => draw().catch((error) => { at("plots").setAttribute("aria-busy", "false"); trouble(error); });

  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("change", () => {
    const { wanted } = page;
    const impls = [...controls.querySelectorAll("[name=impl]:checked")].map((box) => box.value);
    const there = controls.querySelectorAll("[name=impl]").length;
    wanted.impls = impls.length === there ? [] : impls;
    wanted.meter = controls.querySelector("[name=meter]:checked").value;
    wanted.machine = controls.machine.value;
    wanted.log = controls.log.checked;
    wanted.date = controls.date.checked;
    remember();
    redraw();
  });
  controls.addEventListener("click", (event) => {
    const what = event.target.dataset?.do;
    if (!what || !page) return;
    const { view } = page;
    const to = (factor, move = 0) => view.show(gestures.within(gestures.changed(view.range(), factor, view.focus(), move), view.whole()));
    ({ in: () => to(0.5), out: () => to(2), left: () => to(1, -0.25), right: () => to(1, 0.25), all: () => view.all() })[what]();
  });
  at("csv").addEventListener("click", () => {
    const { shown, rows, commitAt, wanted } = page;
    const columns = shown.flatMap((each) => Object.values(each.series).flatMap((one) => [
      [`${each.meter} ${one.name} (${each.unit})`, one.value], [`${each.meter} ${one.name} low`, one.low], [`${each.meter} ${one.name} high`, one.high]]));
    const number = (value) => (value == null ? "" : String(Number(value.toPrecision(7))));
    const lines = [["commit", "date", ...columns.map(([name]) => name)].join(","),
      ...rows.map((place, n) => [commitAt(place).hash, day(commitAt(place).date), ...columns.map(([, values]) => number(values[n]))].join(","))];
    const url = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
    element("a", { href: url, download: `${wanted.name}.csv` }).click();
    URL.revokeObjectURL(url);
  });
  document.addEventListener("benchproof-theme", () => { for (const u of page?.plots || []) u.redraw(false); });
  addEventListener("hashchange", redraw);
  let width = 0;
  new ResizeObserver(() => {
    const now = at("plots").clientWidth;
    if (!page || now === width) return;
    width = now;
    for (const u of page.plots) u.setSize({ width: Math.max(200, u.root.parentElement.clientWidth), height: u.height });
  }).observe(at("plots"));
  redraw();
})();
