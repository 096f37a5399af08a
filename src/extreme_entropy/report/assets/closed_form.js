"use strict";
// F in the browser: machine/decision.py, operation by operation, so that both round alike.

const closedForm = {
  // ln N(m₊,S₊)[t] − ln N(m₋,S₋)[t]
  logRatio(pair, t) {
    const [m0, m1] = pair.means, [s0, s1] = pair.variances;
    if (s0 === s1) return (m1 - m0) / s0 * (t - (m0 + m1) / 2);
    return 0.5 * ((t - m0) * (t - m0) / s0 - (t - m1) * (t - m1) / s1 + pair.logVarianceRatio);
  },

  // The t at which logRatio(t) + bias is zero, in increasing order.
  thresholds(pair, bias) {
    const [m0, m1] = pair.means, [s0, s1] = pair.variances;
    const middle = (m0 + m1) / 2, g = (m1 - m0) / 2;
    const a = (s1 - s0) / (s0 * s1);
    const b = g * (1 / s0 + 1 / s1);
    const c = g * g * a + pair.logVarianceRatio + 2 * bias;
    return closedForm.roots(a, b, c).map((root) => middle + root);
  },

  // Real roots of a x² + 2b x + c, without cancellation however small a is.
  roots(a, b, c) {
    const discriminant = b * b - a * c;
    if (discriminant < 0 || (a === 0 && b === 0)) return [];
    const sign = b < 0 || Object.is(b, -0) ? -1 : 1;
    const larger = -(b + sign * Math.sqrt(discriminant));
    const both = [a ? larger / a : Infinity, larger ? c / larger : 0];
    const finite = both.filter(Number.isFinite).sort((x, y) => x - y);
    return finite.filter((root, i) => i === 0 || root !== finite[i - 1]);
  },

  // What priors and costs add to the log-odds of the second class.
  bias(logPriors, costs) {
    const [c0, c1] = costs.map(Math.log);
    return logPriors[1] + c1 - (logPriors[0] + c0);
  },

  // Whether the second class is predicted for a projection.
  isSecond(pair, bias, t) {
    return closedForm.logRatio(pair, t) + bias > 0;
  },

  // Rows by true (down) and predicted class (across); weight(c, i) rows for each point.
  confusion(pair, logPriors, costs, points, weight) {
    const bias = closedForm.bias(logPriors, costs);
    return points.map((part, c) => {
      const found = [0, 0];
      part.forEach((t, i) => {
        found[closedForm.isSecond(pair, bias, t) ? 1 : 0] += weight(c, i);
      });
      return found;
    });
  },
};
