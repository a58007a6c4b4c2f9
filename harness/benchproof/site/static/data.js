"use strict";
// The history behind the graphs: commits, and the series of a group or of all groups at a commit.
(() => {
  const { load, catalogue, numbers, places } = window.benchproof;

  // Places of commits by the beginning of a hash; undefined if there is none, or more than one.
  const finder = async () => {
    const { commits } = await catalogue();
    const text = await load("hashes", commits.hashes);
    const short = (at) => text.slice(at * commits.short, (at + 1) * commits.short);
    const find = (hash) => {
      const wanted = (hash || "").toLowerCase().slice(0, commits.short);
      if (wanted.length < 4) return undefined;
      let found;
      for (let at = 0; at < commits.count; at += 1) {
        if (short(at).startsWith(wanted)) {
          if (found !== undefined) return undefined;
          found = at;
        }
      }
      return found;
    };
    return { find, short, count: commits.count };
  };

  // Commits as functions of their place, for the chunks that hold the given places.
  const commitsAt = async (all) => {
    const { commits } = await catalogue();
    const wanted = [...new Set(all.map((place) => Math.floor(place / commits.chunk)))];
    const chunks = new Map(await Promise.all(wanted.map(
      async (at) => [at, await load(`commits-${at}`, commits.files[at])],
    )));
    return (place) => {
      const chunk = chunks.get(Math.floor(place / commits.chunk));
      const at = place % commits.chunk;
      return chunk && {
        place, hash: chunk.hash[at], date: chunk.date[at], subject: chunk.subject[at],
        claims: chunk.claims[at] || [], reverts: chunk.reverts[at] || [],
      };
    };
  };

  const unpack = (pieces) => {
    const index = [], value = [], low = [], high = [];
    for (const [start, piece] of pieces) {
      const values = numbers(piece.v);
      const at = piece.i ? places(piece.i) : null;
      const lows = piece.l ? numbers(piece.l) : values;
      const highs = piece.h ? numbers(piece.h) : values;
      values.forEach((each, n) => {
        index.push(start + (at ? at[n] : n));
        value.push(each);
        low.push(lows[n]);
        high.push(highs[n]);
      });
    }
    return { index, value, low, high, wide: pieces.some(([, piece]) => piece.l) };
  };

  // A group (benchmark, meter, machine) with its series by implementation.
  const group = async (id, file) => {
    const { commits } = await catalogue();
    const head = await load(`${id}-head`, file);
    const chunks = await Promise.all(Object.entries(head.chunks).map(
      async ([at, name]) => [Number(at) * commits.chunk, await load(`${id}-${at}`, name)],
    ));
    const series = {};
    for (const impl of new Set(chunks.flatMap(([, data]) => Object.keys(data)))) {
      series[impl] = unpack(chunks.filter(([, data]) => data[impl]).map(([at, data]) => [at, data[impl]]));
    }
    return { ...head, id, series };
  };

  // Everything that was measured at a commit: by implementation and group, value, low, high.
  const valuesAt = async (place) => {
    const { blocks } = await catalogue();
    const at = Math.floor(place / blocks.size);
    const data = await load(`block-${at}`, blocks.files[at]);
    const columns = Math.min(blocks.size, (await catalogue()).commits.count - at * blocks.size);
    const column = place % blocks.size;
    const found = {};
    for (const [impl, piece] of Object.entries(data)) {
      const values = numbers(piece.v);
      const wide = piece.wide ? [...places(piece.wide)] : [];
      const [lows, highs] = wide.length ? [numbers(piece.l), numbers(piece.h)] : [];
      const rows = values.length / columns;
      const width = piece.ids.length / rows;
      found[impl] = new Map();
      const bands = new Map(wide.map((row, n) => [row, n]));
      for (let row = 0; row < rows; row += 1) {
        const value = values[row * columns + column];
        if (Number.isNaN(value)) continue;
        const band = bands.get(row);
        found[impl].set(piece.ids.slice(row * width, (row + 1) * width), {
          value,
          low: band === undefined ? value : lows[band * columns + column],
          high: band === undefined ? value : highs[band * columns + column],
        });
      }
    }
    return found;
  };

  Object.assign(window.benchproof, { finder, commitsAt, group, valuesAt });
})();
