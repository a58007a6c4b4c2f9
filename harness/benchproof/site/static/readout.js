"use strict";
// The line below the graphs: the commit under the cursor, with its link and its values.
(() => {
  const { element, figure, ratio, percent, day, commitLink } = window.benchproof;

  const interval = (series, row, show) => {
    const low = series.low[row], high = series.high[row];
    if (low == null || !(low < high)) return null;
    return element("span", { class: "fine" }, `${show(low)} to ${show(high)}`);
  };

  // shown: [{meter, label, series: {impl: {name, look, value, low, high}}}], rows: places
  const readout = (host, commit, before, row, shown) => {
    const claims = [
      ...commit.claims.map((claim) => element("a", { href: `ledger.html#row-${claim}` }, `claim ${claim}`)),
      ...commit.reverts.map((claim) => element("a", { href: `ledger.html#row-${claim}` }, `takes ${claim} back`)),
    ];
    const head = element("p", { class: "line" }, commitLink(commit.hash), " ", element("span", { class: "subject" }, commit.subject));
    const about = element("p", { class: "fine" }, day(commit.date));
    for (const claim of claims) about.append(" · ", claim);
    if (before) {
      const address = `compare.html#${new URLSearchParams({ left: before.hash.slice(0, 10), right: commit.hash.slice(0, 10) })}`;
      about.append(" · ", element("a", { href: address }, `compare with ${before.hash.slice(0, 10)} before it`));
    }
    const values = element("ul", { class: "values" });
    for (const { meter, label, series } of shown) {
      const format = figure(meter);
      for (const each of Object.values(series)) {
        const value = each.value[row];
        const last = each.value[row - 1];
        const step = value != null && last > 0 && value !== last ? ` ${percent(value / last)}` : "";
        values.append(element("li", {},
          element("span", { class: `swatch ${each.look}`, "aria-hidden": "true" }),
          shown.length > 1 ? `${each.name}, ${label}: ` : `${each.name}: `,
          element("b", {}, value == null ? "not measured" : format(value, 4)), step, " ",
          interval(each, row, format)));
      }
      const { python, cython } = series;
      if (python && cython && python.value[row] > 0 && cython.value[row] != null) {
        values.append(element("li", {}, shown.length > 1 ? `Cython ÷ pure, ${label}: ` : "Cython ÷ pure: ", element("b", {}, ratio(cython.value[row] / python.value[row]))));
      }
    }
    host.replaceChildren(head, about, values);
  };

  Object.assign(window.benchproof, { readout });
})();
