(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const at = (id) => document.getElementById(id);
  const rare = data.rare, other = 1 - rare;

  const unpack = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Kind(bytes.buffer);
  };
  const points = data.points.map((part) => unpack(part, Float64Array));
  const plane = data.plane;
  plane.ratios = unpack(plane.ratios, Float32Array);
  plane.own = unpack(plane.own, Float64Array);
  plane.points = unpack(plane.points, Float64Array);

  // ------------------------------------------------------------------ what is chosen

  const state = { costs: [...data.costs], priors: "model" };

  // ------------------------------------------------------------------ numbers in words

  const rounded = (x, digits = 3) => x.toFixed(digits);
  const short = (x) => String(Number(x.toPrecision(4)));
  const count = (n) => {
    const whole = Math.round(n);
    return (Math.abs(n - whole) > 1e-6 ? "about " : "") + whole;
  };
  const percent = (share) => {
    if (!Number.isFinite(share)) return "–";
    const whole = (share >= 0.1 && share <= 0.9) || share === 0 || share === 1;
    const text = (100 * share).toFixed(whole ? 0 : 1);
    if (share < 0.5 && share > 0 && Number(text) === 0) return "under 0.1\u00a0%";
    if (share > 0.5 && share < 1 && Number(text) === 100) return "over 99.9\u00a0%";
    return text + "\u00a0%";
  };
  const show = (id, text, value) => {
    const element = at(id);
    element.textContent = text;
    if (value !== undefined) element.dataset.value = value;
  };

  // ------------------------------------------------------------------ pictures

  const place = ([v0, v1, p0, p1], v) => p0 + ((v - v0) / (v1 - v0)) * (p1 - p0);
  const make = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  // A group in the place of what matplotlib drew for the costs of the report.
  const slot = (figure, kind) => {
    const old = figure.querySelectorAll(`.mark-${kind}`);
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `live-${kind}`);
    if (old.length) old[0].before(group);
    else figure.append(group);
    old.forEach((element) => element.remove());
    return group;
  };
  const slots = {
    region: slot(at("projection0"), "region"),
    threshold: slot(at("projection0"), "threshold"),
    roc: slot(at("roc"), "operating"),
    precision_recall: slot(at("precision_recall"), "operating"),
    reliability: slot(at("reliability"), "operating"),
    ground: slot(at("plane"), "ground"),
    ring: slot(at("plane"), "ring"),
  };
  for (const group of Object.values(slots)) group.replaceChildren();

  const drawProjection = (thresholds, bias) => {
    const { x, y } = data.frames.projection;
    const inside = thresholds.filter((t) => t > x[0] && t < x[1]);
    const ends = [x[0], ...inside, x[1]];
    slots.region.replaceChildren();
    slots.threshold.replaceChildren();
    for (let i = 0; i + 1 < ends.length; i += 1) {
      const wins = closedForm.logRatio(data.pair, (ends[i] + ends[i + 1]) / 2) + bias > 0 ? 1 : 0;
      const left = place(x, ends[i]), right = place(x, ends[i + 1]);
      make("rect", { x: left, width: right - left, y: y[3], height: y[2] - y[3],
        class: `fill-hue${wins}`, opacity: 0.09 }, slots.region);
    }
    for (const t of inside) {
      make("line", { x1: place(x, t), x2: place(x, t), y1: y[2], y2: y[3],
        class: "stroke-ink", "stroke-width": 1.6, "stroke-dasharray": "6 3" }, slots.threshold);
    }
  };

  const drawPoint = (name, vx, vy) => {
    const { x, y } = data.frames[name];
    slots[name].replaceChildren();
    if (!Number.isFinite(vx) || !Number.isFinite(vy)) return;
    make("circle", { cx: place(x, vx), cy: place(y, vy), r: 5.5, "stroke-width": 2.2,
      class: "fill-paper stroke-ink" }, slots[name]);
  };

  const drawLimit = (p) => {
    const { x, y } = data.frames.reliability;
    slots.reliability.replaceChildren();
    make("line", { x1: place(x, p), x2: place(x, p), y1: y[2], y2: y[3],
      class: "stroke-ink", "stroke-width": 1.6, "stroke-dasharray": "6 3" }, slots.reliability);
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

  const drawPlane = (bias) => {
    const { x, y } = data.frames.plane;
    slots.ground.replaceChildren();
    const path = groundPath(bias);
    const frame = `M${x[2]} ${y[2]}H${x[3]}V${y[3]}H${x[2]}Z`;
    make("path", { d: frame + path, "fill-rule": "evenodd", class: "fill-hue0", opacity: 0.16 }, slots.ground);
    make("path", { d: path, class: "fill-hue1", opacity: 0.16 }, slots.ground);
    slots.ring.replaceChildren();
    plane.own.forEach((ratio, i) => {
      if ((ratio + bias > 0 ? 1 : 0) === plane.labels[i]) return;
      make("circle", { cx: place(x, plane.points[2 * i]), cy: place(y, plane.points[2 * i + 1]),
        r: 4.6, fill: "none", "stroke-width": 1.3, class: "stroke-ink" }, slots.ring);
    });
  };

  // ------------------------------------------------------------------ all of it

  const showMatrix = (matrix) => {
    for (const c of [0, 1]) {
      for (const d of [0, 1]) show(`cell${c}${d}`, count(matrix[c][d]), matrix[c][d]);
    }
    const sum = (parts) => parts[0] + parts[1];
    const recalls = [0, 1].map((c) => matrix[c][c] / sum(matrix[c]));
    const precisions = [0, 1].map((c) => matrix[c][c] / (matrix[0][c] + matrix[1][c]));
    for (const c of [0, 1]) {
      show(`recall${c}`, percent(recalls[c]), recalls[c]);
      show(`precision${c}`, percent(precisions[c]), precisions[c]);
    }
    return { recalls, precisions };
  };

  const times = () => {
    const ratio = state.costs[rare] / state.costs[other];
    if (ratio === 1) return "as much as";
    return `${short(ratio)} times as much as`;
  };

  const showCost = (matrix) => {
    const [c0, c1] = state.costs;
    const cost = matrix[0][1] * c0 + matrix[1][0] * c1;
    const n = data.counts[0] + data.counts[1];
    const constant = data.counts.map((rows, c) => rows * state.costs[c]);
    show("cost", short(cost), cost);
    show("cost-per-row", short((1000 * cost) / n), cost / n);
    show("constant-cost", short(Math.min(...constant)), Math.min(...constant));
    show("constant-name", data.classes[constant[0] <= constant[1] ? 1 : 0]);
  };

  const showThresholds = (thresholds) => {
    const where = thresholds.map((t) => t.toPrecision(4));
    const words = [
      "The decision never changes: one class wins everywhere.",
      `The decision changes at ${where[0]}.`,
      `The decision changes at ${where[0]} and at ${where[1]}.`,
    ];
    show("thresholds", words[thresholds.length], thresholds.join(" "));
  };

  let saying;
  const say = (matrix, gmean) => {
    clearTimeout(saying);
    saying = setTimeout(() => {
      show("spoken", `Missing ${data.classes[rare]} costs ${times()} missing ${data.classes[other]}: ` +
        `${count(matrix[rare][rare])} of ${data.counts[rare]} ${data.classes[rare]} found, ` +
        `${count(matrix[other][rare])} false alarms, GMean ${rounded(gmean)}.`);
    }, 400);
  };

  const update = () => {
    const logPriors = data.logPriors[state.priors];
    const bias = closedForm.bias(logPriors, state.costs);
    const thresholds = closedForm.thresholds(data.pair, bias);
    const matrix = closedForm.confusion(data.pair, logPriors, state.costs, points, data.counts);
    const { recalls, precisions } = showMatrix(matrix);
    const gmean = Math.sqrt(recalls[0] * recalls[1]);
    show("times", times());
    at("frequency").hidden = state.priors === "model";
    showThresholds(thresholds);
    show("live-gmean", rounded(gmean), gmean);
    show("live-balanced", rounded((recalls[0] + recalls[1]) / 2), (recalls[0] + recalls[1]) / 2);
    showCost(matrix);
    drawProjection(thresholds, bias);
    drawPoint("roc", 1 - recalls[other], recalls[rare]);
    drawPoint("precision_recall", recalls[rare], precisions[rare]);
    const sign = rare === 1 ? 1 : -1;
    const shares = data.logPriors.rows;
    drawLimit(1 / (1 + Math.exp(sign * (bias - (shares[1] - shares[0])))));
    drawPlane(bias);
    say(matrix, gmean);
  };

  // ------------------------------------------------------------------ controls

  const slider = at("ratio"), fields = [at("cost0"), at("cost1")];

  const followSlider = () => {
    const ratio = state.costs[rare] / state.costs[other];
    const value = Math.min(Math.max(Math.log10(ratio), -2), 2);
    slider.value = value;
    slider.setAttribute("aria-valuetext", `${times()} the other`);
  };

  slider.addEventListener("input", () => {
    // Two digits: what the field shows is what is used.
    const ratio = Number((10 ** Number(slider.value)).toPrecision(2));
    state.costs[rare] = Number((ratio * state.costs[other]).toPrecision(12));
    fields[rare].value = state.costs[rare];
    for (const field of fields) field.removeAttribute("aria-invalid");
    slider.setAttribute("aria-valuetext", `${times()} the other`);
    at("refused").hidden = true;
    update();
  });

  fields.forEach((field, c) => field.addEventListener("input", () => {
    const cost = Number(field.value);
    const fine = field.value.trim() !== "" && Number.isFinite(cost) && cost > 0;
    if (fine) field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
    at("refused").hidden = fine;
    if (!fine) return;
    state.costs[c] = cost;
    followSlider();
    update();
  }));

  for (const choice of document.querySelectorAll("input[name=priors]")) {
    choice.addEventListener("change", () => {
      state.priors = choice.value;
      update();
    });
  }

  at("reset").addEventListener("click", () => {
    state.costs = [...data.costs];
    state.priors = "model";
    fields.forEach((field, c) => { field.value = state.costs[c]; field.removeAttribute("aria-invalid"); });
    for (const choice of document.querySelectorAll("input[name=priors]")) {
      choice.checked = choice.value === "model";
    }
    at("refused").hidden = true;
    followSlider();
    update();
  });

  fields.forEach((field, c) => { field.value = state.costs[c]; });
  followSlider();
  update();
  at("controls").hidden = false;
})();
