import fs from 'node:fs'
import { ratioOf, type Row } from './row.ts'

/** One run of the benchmark: the ratios of all rows that have one. */
export interface Run {
  readonly version: string
  readonly commit: string
  readonly date: string
  /** True for the quick run with few samples. */
  readonly isQuick: boolean
  readonly ratios: readonly Ratio[]
}

/** `isMoreBetter`: a higher ratio is better, as for the gain from parallel agents. */
export interface Ratio {
  readonly figure: string
  readonly beside: string
  readonly ratio: number
  readonly isMoreBetter?: boolean
}

export function ratiosOf(rows: readonly Row[]): Ratio[] {
  return rows.flatMap(row => {
    const ratio = ratioOf(row)
    if (ratio === null || row.beside === undefined) return []
    const isMoreBetter = row.aim?.is === 'at least' || row.ours.unit === 'MB/s'
    return [
      {
        figure: row.figure,
        beside: row.beside.name,
        ratio: Number(ratio.toPrecision(4)),
        ...(isMoreBetter && { isMoreBetter }),
      },
    ]
  })
}

export function findRatio(ratios: readonly Ratio[], wanted: { figure: string; beside: string }): number | undefined {
  return ratios.find(({ figure, beside }) => figure === wanted.figure && beside === wanted.beside)?.ratio
}

/** Reads the runs of all versions, the oldest first. Returns none if the file does not exist. */
export function readSeries(file: string): Run[] {
  if (!fs.existsSync(file)) return []
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { runs: Run[] }).runs
}

/** Adds a run. A second run of the same commit replaces the first. */
export function addRun(runs: readonly Run[], run: Run): Run[] {
  return [...runs.filter(({ commit }) => commit !== run.commit), run]
}

/** Renders one line for each ratio, so that a diff shows which figures changed. */
export function renderSeries(runs: readonly Run[]): string {
  const render = ({ ratios, ...run }: Run): string => {
    const head = JSON.stringify(run).slice(0, -1)
    return `${head},"ratios":[\n${ratios.map(ratio => JSON.stringify(ratio)).join(',\n')}\n]}`
  }
  return `{"runs":[\n${runs.map(render).join(',\n')}\n]}\n`
}
