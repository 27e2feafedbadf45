// Numbers as people read them. Everything unknown is a dash.
const unknown = (value) => value === null || value === undefined || !Number.isFinite(value);

const scaled = (value) => {
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k']];
  for (const [size, letter] of steps) {
    if (Math.abs(value) >= size) {
      const base = letter === 'k' ? 1e3 : size;
      return `${(value / base).toPrecision(3)} ${letter}`;
    }
  }
  return null;
};

export const whole = (value) =>
  unknown(value) ? '–' : scaled(value) ?? Math.round(value).toLocaleString('en-US');

export const seconds = (value) => {
  if (unknown(value)) return '–';
  if (value === 0) return '0 s';
  if (value < 0.9995) return `${(value * 1000).toPrecision(value < 0.0995 ? 2 : 3)} ms`;
  if (value < 100) return `${value.toPrecision(3)} s`;
  if (value < 7200) return `${Math.round(value).toLocaleString('en-US')} s`;
  return `${(value / 3600).toPrecision(3)} h`;
};

export const perSecond = (value) => {
  if (unknown(value)) return '–';
  return value >= 1e4 ? scaled(value) : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

export const percent = (share) => (unknown(share) ? '–' : `${(share * 100).toFixed(1)} %`);

export const age = (value) => {
  if (unknown(value)) return '–';
  if (value < 90) return `${Math.round(value)} s ago`;
  if (value < 5400) return `${Math.round(value / 60)} min ago`;
  return `${(value / 3600).toFixed(1)} h ago`;
};

export const span = (value) => {
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  if (value < 172800) return `${(value / 3600).toFixed(1)} h`;
  return `${Math.round(value / 86400)} d`;
};
