import { findRatio, type Run } from './series.ts'

/** A figure in the plot. `aim` is the ratio that a dashed line shows. */
interface Curve {
  readonly figure: string
  readonly beside: string
  readonly aim: number
}

const CURVES: readonly Curve[] = [
  { figure: 'status', beside: 'node -e 0', aim: 1.45 },
  { figure: 'run', beside: 'node -e 0', aim: 2.5 },
  { figure: 'list, 200 sessions', beside: 'node -e 0', aim: 2 },
  { figure: 'RSS of the supervisor, 200 sessions', beside: 'pm2, 200', aim: 1 },
  { figure: 'agent killed → the next one’s first act', beside: 'pm2', aim: 1 },
  { figure: 'checkpoint of 10,000 files, 5 changed', beside: 'git status', aim: 2 },
]

const COLUMNS = 3
const CELL = { width: 300, height: 170 }
const CHART = { left: 40, top: 42, width: 240, height: 90 }

/** Draws one small chart for each figure: its ratio in every run of the series. */
export function renderPlot(runs: readonly Run[]): string {
  const rows = Math.ceil(CURVES.length / COLUMNS)
  const [width, height] = [COLUMNS * CELL.width, rows * CELL.height]
  const charts = CURVES.map((curve, index) => {
    const [x, y] = [(index % COLUMNS) * CELL.width, Math.floor(index / COLUMNS) * CELL.height]
    return `<g transform="translate(${x} ${y})">\n${drawChart(curve, runs)}\n</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" font-family="system-ui, sans-serif" font-size="11">
<title>Ratios of the benchmark over versions; lower is better</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${charts.join('\n')}
</svg>
`
}

function drawChart({ figure, beside, aim }: Curve, runs: readonly Run[]): string {
  const points = runs.flatMap((run, index) => {
    const ratio = findRatio(run.ratios, { figure, beside })
    return ratio === undefined ? [] : [{ run, index, ratio }]
  })
  const top = Math.max(aim, ...points.map(({ ratio }) => ratio)) * 1.15
  const x = (index: number): number => CHART.left + (runs.length < 2 ? 0.5 : index / (runs.length - 1)) * CHART.width
  const y = (ratio: number): number => CHART.top + (1 - ratio / top) * CHART.height
  const at = (index: number, ratio: number): string => `${x(index).toFixed(1)} ${y(ratio).toFixed(1)}`
  const floor = CHART.top + CHART.height
  const right = CHART.left + CHART.width
  const last = points.at(-1)
  return [
    `<text x="${CHART.left}" y="18" font-weight="600" fill="#1f2933">${escapeText(figure)}</text>`,
    `<text x="${CHART.left}" y="33" fill="#616e7c">against ${escapeText(beside)}; aim ${aim}×</text>`,
    `<path d="M${CHART.left} ${floor}H${right}" stroke="#cbd2d9" fill="none"/>`,
    `<path d="M${CHART.left} ${y(aim).toFixed(1)}H${right}" stroke="#3e9b6e" stroke-dasharray="4 3" fill="none"/>`,
    `<path d="${points.map(({ index, ratio }, n) => `${n === 0 ? 'M' : 'L'}${at(index, ratio)}`).join('')}" stroke="#2f6fd0" stroke-width="1.5" fill="none"/>`,
    ...points.map(({ index, ratio, run }) => {
      const [cx, cy] = at(index, ratio).split(' ')
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${run.isQuick ? '#fff' : '#2f6fd0'}" stroke="#2f6fd0"><title>${escapeText(`${run.date} ${run.commit}: ${ratio.toFixed(2)}×`)}</title></circle>`
    }),
    last === undefined
      ? `<text x="${CHART.left}" y="${CHART.top + CHART.height / 2}" fill="#616e7c">not measured</text>`
      : `<text x="${right}" y="${(y(last.ratio) - 7).toFixed(1)}" text-anchor="end" fill="#1f2933">${last.ratio.toFixed(2)}×</text>`,
    ...runs
      .slice(-1)
      .map(({ date }) => `<text x="${right}" y="${floor + 15}" text-anchor="end" fill="#616e7c">${date}</text>`),
    ...runs.slice(0, 1).map(({ date }) => `<text x="${CHART.left}" y="${floor + 15}" fill="#616e7c">${date}</text>`),
  ].join('\n')
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
