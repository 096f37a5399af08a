// Marks that move, in the frames of the pictures that are there already.

const drawing = (data, plane) => {
  const SVG = "http://www.w3.org/2000/svg";
  const figures = { projection: "projection0" };

  const place = ([v0, v1, p0, p1], v, log) => {
    const [a, b, x] = log ? [v0, v1, Math.max(v, v0)].map(Math.log) : [v0, v1, v];
    return p0 + ((x - a) / (b - a)) * (p1 - p0);
  };
  const spot = (name, vx, vy) => {
    const { x, y, log } = data.frames[name];
    return [place(x, vx, log[0]), place(y, vy, log[1])];
  };
  const make = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  // An empty group in the place of what was drawn for the costs of the report.
  const slot = (name, kind) => {
    const figure = document.getElementById(figures[name] || name);
    const old = figure.querySelectorAll(`.mark-${kind}`);
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `live-${kind}`);
    if (old.length) old[0].before(group);
    else figure.append(group);
    old.forEach((element) => element.remove());
    return group;
  };
  const ring = (name, group, vx, vy, square) => {
    group.replaceChildren();
    if (!Number.isFinite(vx) || !Number.isFinite(vy)) return;
    const [cx, cy] = spot(name, vx, vy);
    const look = { "stroke-width": 2.2, class: "fill-paper stroke-ink" };
    if (square) make("path", { d: `M${cx} ${cy - 6}l6 6l-6 6l-6 -6Z`, ...look }, group);
    else make("circle", { cx, cy, r: 5.5, ...look }, group);
  };
  const upright = (name, group, v) => {
    const { x, y, log } = data.frames[name];
    const at = place(x, v, log[0]);
    make("line", { x1: at, x2: at, y1: y[2], y2: y[3],
      class: "stroke-ink", "stroke-width": 1.6, "stroke-dasharray": "6 3" }, group);
  };

  const region = slot("projection", "region"), threshold = slot("projection", "threshold");
  const projection = (thresholds, bias) => {
    const { x, y } = data.frames.projection;
    const low = Math.min(x[0], x[1]), high = Math.max(x[0], x[1]);
    const inside = thresholds.filter((t) => t > low && t < high);
    const ends = [low, ...inside, high];
    region.replaceChildren();
    threshold.replaceChildren();
    for (let i = 0; i + 1 < ends.length; i += 1) {
      const wins = closedForm.logRatio(data.pair, (ends[i] + ends[i + 1]) / 2) + bias > 0 ? 1 : 0;
      const left = place(x, ends[i]), right = place(x, ends[i + 1]);
      make("rect", { x: Math.min(left, right), width: Math.abs(right - left), y: y[3], height: y[2] - y[3],
        class: `fill-hue${wins}`, opacity: 0.09 }, region);
    }
    for (const t of inside) upright("projection", threshold, t);
    return inside;
  };

  const points = {};
  for (const name of ["roc", "precision_recall", "reliability", "gains", "costcurve"]) {
    points[name] = slot(name, "operating");
  }
  const point = (name, vx, vy) => ring(name, points[name], vx, vy);
  const limit = (p) => {
    points.reliability.replaceChildren();
    upright("reliability", points.reliability, p);
  };

  // The cost of each number of rows flagged, beside that of flagging none.
  const curve = slot("costcurve", "curve"), cheapest = slot("costcurve", "cheapest");
  const costs = (order, miss, alarm, now, best) => {
    const nothing = order.total * miss;
    const top = data.frames.costcurve.y[1];
    const share = (flagged, found) =>
      ((order.total - found) * miss + (flagged - found) * alarm) / nothing;
    const n = order.flagged.length - 1, steps = Math.min(n, 600), seen = new Set();
    let path = "";
    for (let i = 0; i <= steps; i += 1) {
      const k = Math.round(n ** (i / steps));
      if (seen.has(k)) continue;
      seen.add(k);
      const height = Math.min(share(order.flagged[k], order.found[k]), 2 * top);
      const [x, y] = spot("costcurve", order.flagged[k], height);
      path += `${path ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    curve.replaceChildren();
    const clip = curve.ownerSVGElement.querySelector("clipPath");
    make("path", { d: path, fill: "none", "stroke-width": 2, class: "stroke-hue2",
      ...(clip ? { "clip-path": `url(#${clip.id})` } : {}) }, curve);
    const mark = (group, { flagged, found }, square) =>
      ring("costcurve", group, Math.max(flagged, 1), Math.min(share(flagged, found), top), square);
    mark(cheapest, best, true);
    mark(points.costcurve, now, false);
  };

  // Strips of the ground that the second class wins; plots/regions.py draws the same.
  const groundPath = (bias) => {
    const { x, y } = data.frames.plane;
    const [x0, x1, nx] = plane.x, [y0, y1, ny] = plane.y;
    const dx = (x1 - x0) / (nx - 1), dy = (y1 - y0) / (ny - 1);
    const top = (v) => Math.min(Math.max(place(y, v), y[3]), y[2]);
    let path = "";
    for (let j = 0; j < ny; j += 1) {
      const height = (i) => plane.ratios[j * nx + i] + bias;
      const high = top(y0 + (j + 0.5) * dy), low = top(y0 + (j - 0.5) * dy);
      const ends = height(0) > 0 ? [x0] : [];
      for (let i = 0; i + 1 < nx; i += 1) {
        const a = height(i), b = height(i + 1);
        if (a > 0 !== b > 0) ends.push(x0 + (i + a / (a - b)) * dx);
      }
      if (height(nx - 1) > 0) ends.push(x1);
      for (let i = 0; i < ends.length; i += 2) {
        const left = place(x, ends[i]).toFixed(1), right = place(x, ends[i + 1]).toFixed(1);
        path += `M${left} ${low.toFixed(2)}H${right}V${high.toFixed(2)}H${left}Z`;
      }
    }
    return path;
  };

  const ground = plane && slot("plane", "ground"), rings = plane && slot("plane", "ring");
  const map = (bias) => {
    if (!plane) return;
    const { x, y } = data.frames.plane;
    ground.replaceChildren();
    const path = groundPath(bias);
    const frame = `M${x[2]} ${y[2]}H${x[3]}V${y[3]}H${x[2]}Z`;
    make("path", { d: frame + path, "fill-rule": "evenodd", class: "fill-hue0", opacity: 0.16 }, ground);
    make("path", { d: path, class: "fill-hue1", opacity: 0.16 }, ground);
    rings.replaceChildren();
    plane.own.forEach((ratio, i) => {
      if ((ratio + bias > 0 ? 1 : 0) === plane.labels[i]) return;
      make("circle", { cx: place(x, plane.points[2 * i]), cy: place(y, plane.points[2 * i + 1]),
        r: 4.6, fill: "none", "stroke-width": 1.3, class: "stroke-ink" }, rings);
    });
  };

  return { projection, point, limit, costs, map };
};
