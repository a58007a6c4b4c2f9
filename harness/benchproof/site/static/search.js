"use strict";
// The search box: a combobox over the names of all benchmarks. "/" goes to it from anywhere.
(() => {
  const { load, element } = window.benchproof;
  const MOST = 12;
  const box = document.getElementById("search");
  const list = document.getElementById("found");
  let active = -1;

  const names = () => load("names", document.documentElement.dataset.names);
  const open = (whether) => {
    list.hidden = !whether;
    box.setAttribute("aria-expanded", String(whether));
    if (!whether) { active = -1; box.removeAttribute("aria-activedescendant"); }
  };
  const mark = (next) => {
    const options = [...list.querySelectorAll("[role=option]")];
    if (!options.length) return;
    active = (next + options.length) % options.length;
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    options[active].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", options[active].id);
  };
  const go = (name) => {
    open(false);
    box.value = "";
    const address = `benchmark.html#${new URLSearchParams({ name })}`;
    location.assign(address);
  };

  // Every word must occur; a name in which the first word begins a part comes first.
  const matches = (all, text) => {
    const words = text.toLowerCase().split(/[\s.]+/).filter(Boolean);
    const rank = (name) => {
      const low = name.toLowerCase();
      if (!words.every((word) => low.includes(word))) return -1;
      const parts = low.split(/[._]/);
      return words.filter((word) => parts.some((part) => part.startsWith(word))).length;
    };
    return all.map((name) => [rank(name), name]).filter(([score]) => score >= 0)
      .sort((one, other) => other[0] - one[0]).map(([, name]) => name);
  };

  const show = async () => {
    const text = box.value.trim();
    if (!text) { open(false); return; }
    const found = matches(await names(), text);
    list.replaceChildren(...found.slice(0, MOST).map((name, at) => element("li", {
      role: "option", id: `found-${at}`, "aria-selected": "false", "data-name": name,
      onpointerdown: (event) => { event.preventDefault(); go(name); },
    }, name)));
    if (!found.length) list.append(element("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", id: "found-none" }, "no such benchmark"));
    if (found.length > MOST) list.append(element("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", id: "found-more" }, `and ${found.length - MOST} more`));
    open(true);
    active = -1;
  };

  box.addEventListener("input", () => show().catch(() => open(false)));
  box.addEventListener("blur", () => open(false));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { open(false); return; }
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      mark(active + (event.key === "ArrowDown" ? 1 : -1));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      const option = list.querySelectorAll("[data-name]")[Math.max(0, active)];
      if (option) go(option.dataset.name);
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.focus();
    }
  });
})();
