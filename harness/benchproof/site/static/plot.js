"use strict";
// One graph: uPlot draws; here stand its settings, and the marks of changes as buttons above it.
(() => {
  const { element, colour } = window.benchproof;

  // A logarithmic axis over less than a decade would show one tick: round steps instead.
  const roundSteps = (low, high, many) => {
    const rough = (high - low) / Math.max(1, many);
    const size = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough);
    const steps = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) steps.push(at);
    return steps;
  };
  const logSplits = (u, axis, low, high) => {
    if (high / low < 12) return roundSteps(low, high, Math.max(2, u.bbox.height / devicePixelRatio / 50));
    const splits = [];
    const decades = Math.log10(high / low);
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const times of decades > 4 ? [1] : [1, 2, 5]) {
        const at = times * 10 ** power;
        if (at >= low && at <= high) splits.push(at);
      }
    }
    return splits;
  };
  const room = (log) => (u, low, high) => {
    if (low == null) return log ? [1, 10] : [0, 1];
    if (log) return low === high ? [low / 1.05, high * 1.05] : [low * (low / high) ** 0.06, high * (high / low) ** 0.06];
    const margin = (high - low) * 0.08 || Math.abs(high) * 0.02 || 1;
    return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
  };
  // Enough digits to tell two ticks apart.
  const digits = (ticks) => {
    const seen = ticks.filter((tick) => tick != null);
    if (seen.length < 2) return 3;
    const step = Math.min(...seen.slice(1).map((tick, at) => tick - seen[at]));
    const most = Math.max(...seen.map(Math.abs));
    return Math.min(9, Math.max(3, Math.ceil(Math.log10(most / step)) + 1));
  };

  // spec: {label, xs, rows, lines: [{name, look, dash, value, low, high}], figure, log, xTick, height}
  const plot = (host, spec, on) => {
    const positive = (values) => (spec.log ? values.map((value) => (value > 0 ? value : null)) : values);
    const data = [spec.xs];
    const series = [{}];
    const bands = [];
    const many = spec.rows.length;
    for (const line of spec.lines) {
      if (line.low) {
        const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
        data.push(positive(line.high), positive(line.low));
        series.push({ ...edge, label: `${line.name}, upper` }, { ...edge, label: `${line.name}, lower` });
        bands.push({ series: [series.length - 2, series.length - 1], fill: () => `${colour(line.look)}33` });
      }
      data.push(positive(line.value));
      series.push({
        label: line.name, stroke: () => colour(line.look), width: many > 3000 ? 1 : 1.6,
        dash: line.dash, spanGaps: true,
        points: { size: 5, space: 8, fill: () => colour("ground"), stroke: () => colour(line.look) },
      });
    }
    const axis = {
      stroke: () => colour("muted"), font: "12px system-ui, sans-serif",
      grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("grid"), width: 1 },
    };
    const x = { min: spec.xs[0] ?? 0, max: spec.xs.at(-1) ?? 1 };
    if (x.min === x.max) { x.min -= 1; x.max += 1; }
    const options = {
      width: Math.max(200, host.clientWidth), height: spec.height, padding: [8, 12, 0, 0],
      legend: { show: false }, series, bands,
      scales: {
        x: { time: false, range: (u, low, high) => (low == null || low === high ? [x.min, x.max] : [low, high]) },
        y: { distr: spec.log ? 3 : 1, range: room(spec.log) },
      },
      axes: [
        { ...axis, space: 90, values: (u, ticks) => ticks.map((tick) => spec.xTick(tick)) },
        {
          ...axis, size: 74, space: spec.space || 40, values: (u, ticks) => ticks.map((tick) => (tick == null ? "" : spec.figure(tick, digits(ticks)))),
          ...(spec.log ? { splits: logSplits, filter: (u, splits) => splits } : {}),
        },
      ],
      cursor: {
        drag: { x: true, y: false, dist: 6 }, y: false, sync: { key: "benchproof", scales: ["x", null] },
        points: { size: 8, width: 2 },
        bind: { dblclick: () => () => on.all() },
      },
      hooks: {
        setCursor: [(u) => on.cursor(u, u.cursor.idx)],
        setScale: [(u, key) => { if (key === "x") on.range(u, u.scales.x.min, u.scales.x.max); }],
        draw: [(u) => placeMarks(u)],
      },
    };
    const marks = [];
    const placeMarks = (u) => {
      for (const { button, row, at } of marks) {
        const left = u.valToPos(spec.xs[row], "x");
        const inside = left >= 0 && left <= u.over.clientWidth;
        button.hidden = !inside;
        if (!inside) continue;
        const value = data[at][row];
        const top = value == null ? u.over.clientHeight : u.valToPos(value, "y");
        button.style.transform = `translate(${left}px, ${Math.min(Math.max(top, 10), u.over.clientHeight - 10)}px)`;
      }
    };
    const u = new uPlot(options, data, host);
    u.root.setAttribute("aria-hidden", "false");
    for (const mark of spec.marks || []) {
      const at = series.findIndex((each) => each.label === mark.line);
      if (at < 0) continue;
      const button = element("button", {
        type: "button", class: `mark ${mark.look}`, "aria-label": mark.words, title: mark.words, tabindex: "-1",
        onclick: (event) => { event.stopPropagation(); on.mark(mark); },
        onmousedown: (event) => event.stopPropagation(),
      }, mark.sign);
      u.over.append(button);
      marks.push({ button, row: mark.row, at });
    }
    placeMarks(u);
    return u;
  };

  Object.assign(window.benchproof, { plot });
})();
