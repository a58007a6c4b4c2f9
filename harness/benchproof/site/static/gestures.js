"use strict";
// Zooming and moving: keys, the wheel with Ctrl, one and two fingers. They change the range of x.
(() => {
  // The range after zooming around a place (0 to 1 of the width) and moving by a part of the width.
  const changed = ([low, high], factor, around, move = 0) => {
    const width = (high - low) * factor;
    const start = low + (high - low) * around - width * around + move * (high - low);
    return [start, start + width];
  };
  const within = ([low, high], [least, most]) => {
    const width = Math.min(high - low, most - least);
    const start = Math.min(Math.max(low, least), most - width);
    return [start, start + width];
  };

  // view: {range() -> [low, high], whole() -> [low, high], show([low, high]), all(), step(n), end(n)}
  const keys = (host, view) => host.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = (part) => view.show(within(changed(view.range(), 1, 0.5, part), view.whole()));
    const zoom = (factor) => view.show(within(changed(view.range(), factor, view.focus()), view.whole()));
    const actions = {
      ArrowLeft: () => (event.shiftKey ? move(-0.25) : view.step(-1)),
      ArrowRight: () => (event.shiftKey ? move(0.25) : view.step(1)),
      PageUp: () => view.step(-10), PageDown: () => view.step(10),
      Home: () => view.end(-1), End: () => view.end(1),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => view.all(),
    };
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  const wheel = (over, view) => over.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = over.getBoundingClientRect();
    const around = (event.clientX - box.left) / box.width;
    view.show(within(changed(view.range(), event.deltaY > 0 ? 1.25 : 0.8, around), view.whole()));
  }, { passive: false });

  const touch = (over, view) => {
    const fingers = new Map();
    let start = null;
    const begin = () => {
      const xs = [...fingers.values()];
      start = { range: view.range(), xs, box: over.getBoundingClientRect() };
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      fingers.set(event.pointerId, event.clientX);
      begin();
    });
    over.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId) || !start) return;
      fingers.set(event.pointerId, event.clientX);
      const now = [...fingers.values()];
      const { box, range } = start;
      if (now.length === 1) {
        const move = (start.xs[0] - now[0]) / box.width;
        if (Math.abs(move) > 0.02) view.show(within(changed(range, 1, 0.5, move), view.whole()));
      } else {
        const apart = (xs) => Math.max(24, Math.abs(xs[1] - xs[0]));
        const middle = (xs) => (xs[0] + xs[1]) / 2;
        const factor = apart(start.xs) / apart(now);
        const around = (middle(start.xs) - box.left) / box.width;
        const move = (middle(start.xs) - middle(now)) / box.width * factor;
        view.show(within(changed(range, factor, around, move), view.whole()));
      }
    });
    const end = (event) => { fingers.delete(event.pointerId); start = null; if (fingers.size) begin(); };
    for (const kind of ["pointerup", "pointercancel", "pointerleave"]) over.addEventListener(kind, end);
  };

  Object.assign(window.benchproof, { gestures: { changed, within, keys, wheel, touch } });
})();
